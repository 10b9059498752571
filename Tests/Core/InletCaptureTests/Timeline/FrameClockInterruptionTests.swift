import InletCore
import InletTesting
import Testing

@testable import InletCapture

/// Stalls, pauses and reconnects of paced sources.
@Suite struct FrameClockInterruptionTests {
    private var clock = FrameClock(pacing: .live)
    private let machine = ManualClock()
    private var last: FrameClock.Stamp?

    /// Adds a frame that arrives some milliseconds after the previous one. Returns the distance of its timestamp from
    /// that of the previous frame.
    @discardableResult
    private mutating func frame(_ number: Double, after milliseconds: Double = 100.0 / 3) -> Double {
        machine.advance(by: .nanoseconds(Int64(milliseconds * 1e6)))
        let stamp = clock.stamp(
            pts: MediaTime(ticks: Int64(number * 3000), timeBase: Rational(1, 90_000)), arrival: machine.now,
            startsAnew: false)
        let spacing = (stamp.time - (last?.time ?? stamp.time)).wholeNanoseconds
        last = stamp
        return Double(spacing) / 1e6
    }

    /// The age of the last frame's timestamp, in milliseconds.
    private var delay: Double { Double((machine.now - (last?.time ?? machine.now)).wholeNanoseconds) / 1e6 }

    @Test(
        "A burst after a stall keeps its spacing and lies in the past", arguments: [0.0, 1, 10, 25])
    mutating func burst(milliseconds: Double) {
        for number in 0..<300 { frame(Double(number)) }
        // 5 s of pictures wait in the network, and arrive as fast as they can be decoded.
        var late = 5000.0
        for number in 300..<1200 {
            let wait = number == 300 ? 5000 + 100.0 / 3 : max(milliseconds, 100.0 / 3 - late)
            late = max(0, number == 300 ? 5000 : late + wait - 100.0 / 3)
            let spacing = frame(Double(number), after: wait)
            #expect(abs(spacing - 100.0 / 3) < 0.2)
            #expect(delay >= 0)
        }
        #expect(delay < 1)
    }

    @Test(
        "A sender that pauses while its clock runs leaves a gap as long as the pause",
        arguments: [1.0, 9, 11, 60, 3600])
    mutating func pauseWithClock(seconds: Double) {
        for number in 0..<600 { frame(Double(number)) }
        #expect(abs(frame(599 + 30 * seconds, after: 1000 * seconds) - 1000 * seconds) < 1)
        for number in 1..<300 { #expect(abs(frame(599 + 30 * seconds + Double(number)) - 100.0 / 3) < 0.2) }
        #expect(delay < 1)
    }

    @Test(
        "A sender whose clock pauses with it is corrected by one step, within five seconds",
        arguments: [1.0, 5, 20, 60, 3600])
    mutating func pauseOfClock(seconds: Double) {
        for number in 0..<300 { frame(Double(number)) }
        var steps: [Double] = [frame(300, after: 1000 * seconds)]
        for number in 301..<451 { steps.append(frame(Double(number))) }
        #expect(delay < 50)
        #expect(steps.count { $0 > 100 } == 1)
        #expect(steps.allSatisfy { $0 > 10 })
        for number in 451..<600 { #expect(abs(frame(Double(number)) - 100.0 / 3) < 0.2) }
    }

    @Test("A slightly longer path is followed without a visible step: the spacing changes by less than 1 %")
    mutating func longerWay() {
        for number in 0..<900 { frame(Double(number)) }
        #expect(abs(frame(900, after: 100.0 / 3 + 80) - 100.0 / 3) < 0.2)
        for number in 901..<6000 { #expect(abs(frame(Double(number)) - 100.0 / 3) < 0.3) }
        #expect(delay < 1)
    }

    @Test("A server that begins with the pictures of the last two seconds causes no delay afterwards")
    mutating func burstAtTheStart() {
        for number in 0..<60 { #expect(frame(Double(number), after: 1) >= 0) }
        #expect(delay < 1)
        for number in 60..<600 { #expect(abs(frame(Double(number)) - 100.0 / 3) < 0.2) }
        #expect(delay < 1)
    }

    @Test(
        "After a reconnect the gap is as long as it took, wherever the new PTS begin",
        arguments: [-5_000_000.0, 0, 299, 5_000_000])
    mutating func reconnect(number: Double) {
        for number in 0..<300 { frame(Double(number)) }
        clock.reconnect(pacing: .live)
        #expect(abs(frame(number, after: 4321) - 4321) < 1)
        for next in 1..<300 { #expect(abs(frame(number + Double(next)) - 100.0 / 3) < 0.2) }
        #expect(last?.basis == .pts)
    }

    @Test("A reconnect from a file that ran ahead to a camera continues after the file's last frame")
    mutating func reconnectFromFile() {
        clock = FrameClock(pacing: .unpaced)
        for number in 0..<300 { frame(Double(number), after: 1) }
        clock.reconnect(pacing: .unpaced)
        #expect(abs(frame(0, after: 1) - 100.0 / 3) < 0.001)
        #expect(abs(frame(1, after: 1) - 100.0 / 3) < 0.001)
        machine.advance(by: .seconds(20))
        clock.reconnect(pacing: .live)
        #expect(frame(0) > 1000)
        #expect(delay == 0)
    }
}
