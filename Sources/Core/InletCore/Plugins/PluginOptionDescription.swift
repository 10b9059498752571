/// An option without its static type, for listings and checks.
public struct PluginOptionDescription: Sendable {
    /// The option's name in a URI.
    public let name: String
    /// The accepted values, such as `integer` or `smpte | ball | noise`.
    public let type: String
    /// The default as text; empty if the option has no default.
    public let defaultValue: String
    /// The allowed range in words; nil if any value of the type is allowed.
    public let range: String?
    /// The unit of its numbers, such as `pixels`; nil if they have no unit.
    public let unit: String?
    /// The purpose of the option, in a phrase.
    public let summary: String
    /// The kind of its text: the value, a secret, or the path of a file.
    public let kind: PluginOptionKind
    /// The schemes of the plug-in that have the option; nil if all have it.
    public let schemes: Set<String>?
    /// Former names, which still mean this option.
    public let formerNames: Set<String>
    let isValid: @Sendable (String) -> Bool

    /// Makes the description of an option that is not known when the program is built, as one that a manifest declares.
    ///
    /// - Parameter isValid: whether a text is a value of the option's type and range.
    package init(
        name: String, type: String, defaultValue: String, range: String?, unit: String?, summary: String,
        kind: PluginOptionKind, schemes: Set<String>?, formerNames: Set<String> = [],
        isValid: @escaping @Sendable (String) -> Bool
    ) {
        self.name = name
        self.type = type
        self.defaultValue = defaultValue
        self.range = range
        self.unit = unit
        self.summary = summary
        self.kind = kind
        self.schemes = schemes
        self.formerNames = formerNames
        self.isValid = isValid
    }
}

extension [PluginOptionDescription] {
    /// Returns the option with this name: its present one, or else a former one.
    func named(_ name: some StringProtocol) -> PluginOptionDescription? {
        first { $0.name == name } ?? first { $0.formerNames.contains(String(name)) }
    }

    /// Returns the secret with this name.
    func secret(named name: some StringProtocol) -> PluginOptionDescription? {
        named(name).flatMap { $0.kind == .secret ? $0 : nil }
    }
}
