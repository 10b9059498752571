/// How to make a source: a value with a property for each option, checked before anything is opened.
///
/// As text it is its ``redactedURI``, so that a configuration that finds its way into a log shows no secret.
public protocol FrameSourceConfiguration: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The source by its URI, without credentials: what logs and errors call it.
    var redactedURI: String { get }

    /// Makes a source. Does no input or output and cannot fail: what can be checked beforehand was checked when the
    /// configuration was made.
    func makeSource() -> any FrameSource

    /// Returns the configuration with which one capturer makes all its sources.
    ///
    /// A capturer calls it once, before it makes its first source. What a source must know when it is made again after
    /// an outage, such as which of several cameras it had, belongs in a reference that the returned value holds and no
    /// other does, so that neither copies of the configuration nor other capturers share it. The default returns the
    /// value itself.
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
