import InletCore
import Testing

@Suite struct ImageSizeTests {
    @Test(
        "Chroma planes are half the size, rounded up",
        arguments: [(2, 2, 1, 1), (3, 5, 2, 3), (1, 1, 1, 1), (1920, 1080, 960, 540), (32_768, 32_767, 16_384, 16_384)])
    func chroma(width: Int, height: Int, chromaWidth: Int, chromaHeight: Int) {
        let size = ImageSize(width: width, height: height)
        #expect(size.chroma == ImageSize(width: chromaWidth, height: chromaHeight))
        #expect(size.packedI420ByteCount == width * height + 2 * chromaWidth * chromaHeight)
    }

    @Test(
        "A picture has at least one and at most 32,768 pixels per side",
        arguments: [
            (0, 1, false), (1, 0, false), (-1, 5, false), (1, 1, true), (32_768, 32_768, true), (32_769, 1, false),
            (1, 32_769, false), (Int.max, 1, false), (Int.min, 1, false),
        ])
    func validity(width: Int, height: Int, isValid: Bool) {
        #expect(ImageSize(width: width, height: height).isValid == isValid)
    }

    @Test("A size fits in another if neither side is larger")
    func fits() {
        let vga = ImageSize(width: 640, height: 480)
        #expect(vga.fits(in: vga))
        #expect(vga.fits(in: ImageSize(width: 641, height: 480)))
        #expect(!vga.fits(in: ImageSize(width: 10_000, height: 479)))
        #expect(!vga.fits(in: ImageSize(width: 639, height: 10_000)))
    }

    @Test("The order of sizes is total, so that any two can be sorted")
    func order() {
        let sizes = [(2, 1), (1, 3), (1, 2), (2, 0)].map { ImageSize(width: $0.0, height: $0.1) }
        #expect(sizes.sorted().map(\.description) == ["1x2", "1x3", "2x0", "2x1"])
    }

    @Test("A quarter turn swaps width and height")
    func transposed() {
        #expect(ImageSize(width: 4, height: 9).transposed == ImageSize(width: 9, height: 4))
    }
}
