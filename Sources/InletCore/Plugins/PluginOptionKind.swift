/// The kind of an option's text.
public enum PluginOptionKind: Sendable, Hashable {
    /// The value itself.
    case value
    /// A secret. A URI gives it as `NAME=VALUE`, or tells where it is: `NAME-file=PATH` or `NAME-env=VARIABLE`.
    case secret
    /// The path of a file that the plug-in reads.
    case file
}
