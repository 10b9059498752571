/// The kind of an option's text.
public enum PluginOptionKind: Sendable, Hashable {
    /// The value itself.
    case value
    /// A secret. A URI contains it as `NAME=VALUE`, or refers to it: `NAME-file=PATH` or `NAME-env=VARIABLE`.
    case secret
    /// The path of a file that the plug-in reads.
    case file
}
