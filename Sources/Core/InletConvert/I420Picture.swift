public import InletCore

/// An I420 buffer and its colour space: the result of a conversion.
public struct I420Picture: Sendable {
    /// The pixels.
    public var buffer: I420Buffer
    /// The source's colour space with what the conversion changed: matrix and range, if the source was not YUV or left
    /// them unspecified.
    public var colorSpace: ColorSpace

    public init(buffer: I420Buffer, colorSpace: ColorSpace) {
        self.buffer = buffer
        self.colorSpace = colorSpace
    }
}
