import InletCore
import Testing

@Suite struct SinkWantsTests {
    private static let size = ImageSize(width: 64, height: 48)

    @Test(
        "Impossible requirements are refused as an invalid configuration",
        arguments: [
            SinkWants(size: ImageSize(width: 0, height: 48)), SinkWants(size: ImageSize(width: 64, height: -2)),
            SinkWants(largestSize: ImageSize(width: 0, height: 0)),
            SinkWants(largestSize: ImageSize(width: 100_000, height: 48)),
            SinkWants(size: size, largestSize: size), SinkWants(maximumFrameRate: Rational(0)),
            SinkWants(maximumFrameRate: Rational(-1)), SinkWants(maximumFrameRate: Rational(1, .max)),
            SinkWants(crop: .center(Rational(0))),
            SinkWants(crop: .center(Rational(-16, 9))), SinkWants(crop: .center(Rational(1 << 40))),
            SinkWants(crop: .exact(ImageRect(x: 0, y: 0, width: 0, height: 2))),
            SinkWants(crop: .exact(ImageRect(x: 1, y: 0, size: size))),
            SinkWants(crop: .exact(ImageRect(x: 0, y: 3, size: size))),
            SinkWants(crop: .exact(ImageRect(x: -2, y: 0, size: size))),
        ])
    func refused(wants: SinkWants) {
        let error = #expect(throws: InletError.self) { try wants.validate() }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test("Requirements that some picture can meet are accepted")
    func accepted() throws {
        try SinkWants().validate()
        try SinkWants(
            crop: .exact(ImageRect(x: 2, y: 4, width: 3, height: 5)), size: Self.size, rotation: .applied,
            maximumFrameRate: Rational(1, 86_400)
        ).validate()
        try SinkWants(crop: .center(Rational(16, 9)), largestSize: ImageSize(width: 1, height: 1)).validate()
    }

    @Test("A part lies in a picture if none of its pixels is outside, whatever the numbers")
    func rectangles() {
        let size = Self.size
        func lies(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Bool {
            ImageRect(x: x, y: y, width: width, height: height).lies(in: size)
        }
        #expect(lies(0, 0, 64, 48) && lies(63, 47, 1, 1) && lies(10, 0, 54, 48))
        #expect(!lies(1, 0, 64, 48) && !lies(0, 1, 64, 48) && !lies(64, 0, 1, 1) && !lies(-1, 0, 2, 2))
        #expect(!lies(0, 0, 0, 1) && !lies(0, 0, 1, -1) && !lies(.max, .max, .max, .max) && !lies(.min, 0, .max, 1))
    }
}
