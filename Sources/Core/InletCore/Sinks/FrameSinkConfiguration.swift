/// Makes a sink. It is a value with a property for each option, checked before anything is opened.
///
/// Its text form is its ``redactedURI``, so that a configuration that ends up in a log shows no secret.
public protocol FrameSinkConfiguration: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The sink's URI, without credentials, for logs and errors.
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
