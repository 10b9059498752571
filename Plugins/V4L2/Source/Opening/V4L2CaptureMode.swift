public import InletCore
public import InletV4L2

/// A capture mode: a pixel format, a size and a frame rate.
public struct V4L2CaptureMode: Sendable, Hashable {
    /// The pixel format.
    public var format: FourCC
    /// The size of the pictures.
    public var size: ImageSize
    /// The frame rate; nil if the driver does not report one.
    public var rate: Rational?

    public init(format: FourCC, size: ImageSize, rate: Rational?) {
        self.format = format
        self.size = size
        self.rate = rate
    }
}

extension V4L2CaptureMode: CustomStringConvertible {
    /// A readable form, such as `1280x720 at 30 fps (MJPG)`.
    public var description: String {
        "\(size)\(rate.map { " at \(Self.text($0)) fps" } ?? "") (\(format))"
    }

    private static func text(_ rate: Rational) -> String {
        let hundredths = (rate.doubleValue * 100).rounded() / 100
        return hundredths == hundredths.rounded() ? "\(Int(hundredths))" : "\(hundredths)"
    }
}
