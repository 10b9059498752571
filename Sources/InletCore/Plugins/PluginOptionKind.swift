/// What the text of an option is.
public enum PluginOptionKind: Sendable, Hashable {
    /// The value itself.
    case value
    /// A secret. A URI gives it as `NAME=VALUE`, or says where it is: `NAME-file=PATH` or `NAME-env=VARIABLE`.
    case secret
    /// The path of a file that the plug-in reads.
    case file
}
