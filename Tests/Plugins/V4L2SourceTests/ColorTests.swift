import CV4L2
import InletCore
import Testing

@testable import V4L2Source

@Suite struct ColorTests {
    /// V4L2's numbers: colour space, encoding, quantization; then H.273's: matrix, primaries; then the range.
    @Test(
        "A driver's colours, with V4L2's defaults for missing values",
        arguments: [
            // V4L2_COLORSPACE_SRGB, as most webcams state.
            (8, 0, 0, false, 6, 1, ColorRange.limited),
            (8, 0, 0, true, 6, 1, .full),
            (8, 2, 1, false, 1, 1, .full),
            // V4L2_COLORSPACE_REC709, SMPTE170M, JPEG, BT2020.
            (3, 0, 0, false, 1, 1, .limited),
            (1, 0, 0, false, 6, 6, .limited),
            (7, 0, 0, false, 6, 1, .full),
            (10, 0, 0, false, 9, 9, .limited),
            // Nothing stated.
            (0, 0, 0, false, 2, 2, .unspecified),
        ] as [(UInt32, UInt32, UInt32, Bool, UInt8, UInt8, ColorRange)])
    func table(
        space: UInt32, encoding: UInt32, quantization: UInt32, isRGB: Bool, matrix: UInt8, primaries: UInt8,
        range: ColorRange
    ) {
        var format = inlet_v4l2_format()
        format.colorspace = space
        format.ycbcr_enc = encoding
        format.quantization = quantization
        let color = ColorSpace(v4l2: format, isRGB: isRGB)
        #expect(color.matrix.rawValue == matrix)
        #expect(color.primaries.rawValue == primaries)
        #expect(color.range == range)
    }
}
