import InletCore
import Testing

@Suite struct RotationTests {
    @Test(
        "The nearest quarter turn is found for any angle",
        arguments: [
            (0, Rotation.none), (44, .none), (46, .clockwise90), (90, .clockwise90), (180, .clockwise180),
            (270, .clockwise270), (-90, .clockwise270), (-180, .clockwise180), (-1, .none), (359, .none),
            (360, .none), (450, .clockwise90), (-450, .clockwise270), (90e6, .none), (.nan, .none),
            (.infinity, .none), (1e300, .none),
        ] as [(Double, Rotation)])
    func nearest(degrees: Double, expected: Rotation) {
        #expect(Rotation(nearestTo: degrees) == expected)
    }

    @Test("A quarter and three quarters of a turn swap the dimensions")
    func swaps() {
        #expect(Rotation.allCases.filter(\.swapsDimensions) == [.clockwise90, .clockwise270])
    }
}
