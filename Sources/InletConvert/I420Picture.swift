public import InletCore

/// An I420 buffer and what its numbers mean: what a conversion gives.
public struct I420Picture: Sendable {
    /// The pixels.
    public var buffer: I420Buffer
    /// The source's colour with what the conversion changed: matrix and range, where the source was not YUV or left
    /// them open.
    public var colorSpace: ColorSpace

    public init(buffer: I420Buffer, colorSpace: ColorSpace) {
        self.buffer = buffer
        self.colorSpace = colorSpace
    }
}
