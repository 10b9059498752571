/// How to make a sink: a value with a property for each option, checked before anything is opened.
///
/// As text it is its ``redactedURI``, so that a configuration that finds its way into a log shows no secret.
public protocol FrameSinkConfiguration: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The sink by its URI, without credentials: what logs and errors call it.
    var redactedURI: String { get }

    /// Makes a sink. Does no input or output.
    func makeSink() -> any FrameSink
}

extension FrameSinkConfiguration {
    /// The ``redactedURI``.
    public var description: String { redactedURI }
    /// The ``redactedURI``.
    public var debugDescription: String { redactedURI }
}
