import InletCore
import InletRTC
import Testing

@Suite struct PathDelayTests {
    private func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test(
        "The delay above the shortest path is queueing, whatever the clocks show",
        arguments: [Int64(-7_000_000_000), 0, 1 << 61])
    func clocks(offset: Int64) {
        var delay = PathDelay()
        #expect(delay.queueing(offset + 20_000_000, at: time(0)) == .zero)
        #expect(delay.queueing(offset + 50_000_000, at: time(1)) == .milliseconds(30))
        #expect(delay.queueing(offset + 10_000_000, at: time(2)) == .zero)
        #expect(delay.queueing(offset + 50_000_000, at: time(3)) == .milliseconds(40))
    }

    @Test("A longer route becomes the shortest path after a minute, and not within half a minute")
    func route() {
        var delay = PathDelay()
        _ = delay.queueing(0, at: time(0))
        for second in 1..<30 { #expect(delay.queueing(80_000_000, at: time(Double(second))) == .milliseconds(80)) }
        for second in 30..<61 { _ = delay.queueing(80_000_000, at: time(Double(second))) }
        #expect(delay.queueing(80_000_000, at: time(61)) == .zero)
    }
}
