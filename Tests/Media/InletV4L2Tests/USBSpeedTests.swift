import Testing

@testable import InletV4L2

@Suite struct USBSpeedTests {
    @Test(
        "A stream has the capacity that the USB specifications give to isochronous transfers",
        arguments: [(1.5, nil), (12, 1_023_000), (480, 24_576_000), (5000, 393_216_000), (10_000, 393_216_000)]
            as [(Double, Double?)])
    func limits(megabits: Double, bytes: Double?) {
        #expect(USBSpeed(megabits: megabits).streamBytesPerSecond == bytes)
    }

    @Test("A node that is not on a USB bus has no speed")
    func noBus() {
        #expect(USBSpeed(node: "/dev/inlet-no-such-device") == nil)
    }
}
