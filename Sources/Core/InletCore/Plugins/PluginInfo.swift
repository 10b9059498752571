/// A plug-in's description for people.
public struct PluginInfo: Sendable {
    /// The name of the plug-in, in one word.
    public let name: String
    /// The URI schemes it serves, in lower case.
    public let schemes: [String]
    /// A summary of one sentence.
    public let summary: String
    /// The form of its URIs, such as `pattern:NAME`.
    public let usage: String
    /// Every option that its URIs may carry.
    public let options: [PluginOptionDescription]
    /// Working URIs, ready to be copied.
    public let examples: [String]
    /// Whether a URI may carry options that are not declared, as the query of an address does. The plug-in finds them
    /// in ``PluginOptionValues/others``. The default is false.
    public let takesOtherOptions: Bool

    /// Returns every option that its URIs of a scheme may carry.
    public func options(of scheme: String) -> [PluginOptionDescription] {
        options.filter { $0.schemes?.contains(scheme) ?? true }
    }

    public init(
        name: String, schemes: [String], summary: String, usage: String, options: [PluginOptionDescription],
        examples: [String], takesOtherOptions: Bool = false
    ) {
        self.takesOtherOptions = takesOtherOptions
        self.name = name
        self.schemes = schemes
        self.summary = summary
        self.usage = usage
        self.options = options
        self.examples = examples
    }
}
