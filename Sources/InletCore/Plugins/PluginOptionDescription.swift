/// An option without its static type, for listings and checks.
public struct PluginOptionDescription: Sendable {
    /// The option's name in a URI.
    public let name: String
    /// What may be written, such as `integer` or `smpte | ball | noise`.
    public let type: String
    /// Empty where there is no default.
    public let defaultValue: String
    /// The allowed range in words; nil where any value of the type will do.
    public let range: String?
    /// What its numbers count, such as `pixels`; nil where there is nothing to say.
    public let unit: String?
    /// What it does, in a phrase.
    public let summary: String
    /// What its text is: the value, a secret, or the path of a file.
    public let kind: PluginOptionKind
    /// The schemes of the plug-in that have the option; nil where all have it.
    public let schemes: Set<String>?
    /// Names that it had once, which are refused.
    public let formerNames: Set<String>
    let isValid: @Sendable (String) -> Bool
}
