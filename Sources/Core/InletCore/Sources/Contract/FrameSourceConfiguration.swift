/// Makes a source. It is a value with a property for each option, checked before anything is opened.
///
/// Its text form is its ``redactedURI``, so that a configuration that ends up in a log shows no secret.
public protocol FrameSourceConfiguration: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The source's URI, without credentials, for logs and errors.
    var redactedURI: String { get }

    /// Makes a source. Does no input or output and cannot fail: everything that can be checked in advance was checked
    /// when the configuration was made.
    func makeSource() -> any FrameSource

    /// Returns the configuration with which one capturer makes all its sources.
    ///
    /// A capturer calls it once, before it makes its first source. State that a source needs when it is recreated after
    /// an outage, such as which of several cameras it had, belongs in a reference held only by the returned value. Then
    /// neither copies of the configuration nor other capturers share it. The default returns the value itself.
    func scopedToCapturer() -> any FrameSourceConfiguration
}

extension FrameSourceConfiguration {
    /// Returns the value itself: its sources keep nothing from one to the next.
    public func scopedToCapturer() -> any FrameSourceConfiguration { self }
}

extension FrameSourceConfiguration {
    /// The ``redactedURI``.
    public var description: String { redactedURI }
    /// The ``redactedURI``.
    public var debugDescription: String { redactedURI }
}
