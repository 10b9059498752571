/// A scheme that no plug-in gets, because several offer it, or because it is Inlet's own.
public struct SchemeConflict: Sendable, Hashable {
    /// The scheme.
    public let scheme: String
    /// Whether it is offered for sinks; otherwise it is for sources.
    public let isSink: Bool
    /// The names of the plug-ins that offer it.
    public let plugins: [String]
    /// Whether a built-in plug-in, or one that the application registered, has the scheme.
    public let isReserved: Bool

    /// The problem and its remedy, in a sentence.
    public var explanation: String {
        let kind = isSink ? "sink" : "source"
        let names = plugins.joined(separator: " and ")
        if isReserved {
            return "The scheme '\(scheme):' is Inlet's own; the \(kind) that \(names) offers under it is not used."
        }
        return "The plug-ins \(names) both offer a \(kind) '\(scheme):', so that neither can be used by it. "
            + "Remove one of them."
    }
}
