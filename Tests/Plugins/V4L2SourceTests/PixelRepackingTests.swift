import InletCore
import InletV4L2
import Testing

@testable import V4L2Source

@Suite struct PixelRepackingTests {
    /// One row of a format, repacked.
    private static func row(_ code: FourCC, _ bytes: [UInt8], width: Int) -> [[UInt8]] {
        guard case .repacked(let repacking) = CaptureLayout.table[code] else { return [] }
        let layout = repacking.layout(size: ImageSize(width: width, height: 1))
        var targets = layout.planes.map { [UInt8](repeating: 0, count: $0.stride) }
        let blocks = targets.map { PictureBlock(byteCount: $0.count) }
        unsafe bytes.withUnsafeBytes { source in
            unsafe repacking.repack(
                row: source, plane: 0, width: width,
                targets: zip(blocks, targets).map {
                    unsafe UnsafeMutableRawBufferPointer(rebasing: $0.0.memory[..<$0.1.count])
                })
        }
        for (index, block) in blocks.enumerated() {
            targets[index] = unsafe [UInt8](block.memory[..<targets[index].count])
        }
        return targets
    }

    /// By the tables of pixfmt-packed-yuv.rst and pixfmt-rgb.rst.
    @Test(
        "The components are taken from the bits defined in V4L2's documents",
        arguments: [
            ("YUVA", [10, 20, 30, 40], [[10], [20], [30]]),
            ("AYUV", [40, 10, 20, 30], [[10], [20], [30]]),
            ("VUYX", [30, 20, 10, 40], [[10], [20], [30]]),
            ("YUV3", [10, 20, 30], [[10], [20], [30]]),
            // Y 15, U 1, V 8 of 4 bits: U and V in the first byte.
            ("Y444", [0x18, 0x0F], [[0xFF], [0x11], [0x88]]),
            // Y 31, U 0, V 31 of 5 bits.
            ("YUVO", [0x1F, 0x7C], [[0xFF], [0], [0xFF]]),
            // Y 0, U 63, V 0.
            ("YUVP", [0xE0, 0x07], [[0], [0xFF], [0]]),
            // The planes are green, blue, red. Red 15, green 8, blue 1 above 4 unused bits.
            ("RX12", [0x10, 0xF8], [[0x88], [0x11], [0xFF]]),
            ("BX12", [0xF0, 0x18], [[0x88], [0x11], [0xFF]]),
            // Red 31, green 0, blue 0 above 1 unused bit.
            ("RA15", [0x00, 0xF8], [[0], [0], [0xFF]]),
            ("BA15", [0x3E, 0x00], [[0], [0], [0xFF]]),
            // Blue 63, green 0, red 63: from the highest bit of the first byte on.
            ("BGRH", [0xFC, 0x0F, 0xC0, 0x00], [[0], [0xFF], [0xFF]]),
        ] as [(FourCC, [UInt8], [[UInt8]])])
    func components(code: FourCC, bytes: [UInt8], planes: [[UInt8]]) {
        #expect(Self.row(code, bytes, width: 1) == planes)
    }

    @Test("V Y U Y becomes U Y V Y")
    func swapped() {
        #expect(Self.row("VYUY", [1, 2, 3, 4, 5, 6, 7, 8], width: 4) == [[3, 2, 1, 4, 7, 6, 5, 8]])
    }

    @Test("Samples of 10 bits are moved to the top of 16")
    func widened() {
        #expect(Self.row("RG10", [0xFF, 0x03, 0x01, 0x00], width: 2) == [[0xC0, 0xFF, 0x40, 0x00]])
    }
}
