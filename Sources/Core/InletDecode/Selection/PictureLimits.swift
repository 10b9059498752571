public import InletCore

/// Limits of a stream, checked before memory is allocated.
public struct PictureLimits: Sendable, Hashable {
    /// The largest pictures. The default is 8192x8192.
    public var size: ImageSize
    /// The most frames a second of a live stream. The default, nil, means no limit: files are read as fast as they are
    /// taken.
    public var frameRate: Rational?

    public init(size: ImageSize = ImageSize(width: 8192, height: 8192), frameRate: Rational? = nil) {
        self.size = size
        self.frameRate = frameRate
    }

    /// Returns the error for pictures beyond ``size``.
    ///
    /// - Parameter subject: the beginning of the sentence, such as `The pictures have`.
    package func refusal(_ subject: String) -> InletError {
        InletError(
            .unsupported, "\(subject) more pixels than are taken in: at most \(size). max-size raises the limit.")
    }
}
