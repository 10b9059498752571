import InletCore
import InletRTP
import Testing

@Suite struct WallClockTests {
    /// 15 April 2013, 11:15:18 UTC, in both forms (gortsplib, MIT, pkg/ntp/ntp_test.go).
    private static let host: Int64 = 1_366_024_518_000_000_000
    private static let time = NTPTime(value: 15_354_565_283_574_448_128)
    private static let second: Int64 = 1_000_000_000

    private static func report(_ seconds: Double, at timestamp: UInt32, ssrc: UInt32 = 7) -> SenderReport {
        let value = Int64(bitPattern: time.value) &+ Int64(seconds * 4_294_967_296)
        return SenderReport(ssrc: ssrc, time: NTPTime(value: UInt64(bitPattern: value)), timestamp: timestamp)
    }

    @Test("Nothing is known before the first report")
    func unknown() {
        var clock = WallClock(clockRate: 90_000)
        #expect(clock.time(of: 5) == nil)
        #expect(clock.state == .unknown)
    }

    @Test("A report gives the times before and after it")
    func oneReport() {
        var clock = WallClock(clockRate: 90_000)
        clock.note(Self.report(0, at: 1000), of: 7, host: Self.host + 25_000_000)
        #expect(clock.time(of: 1000) == Self.host)
        #expect(clock.time(of: 1000 + 90_000) == Self.host + Self.second)
        #expect(clock.time(of: 1000 &- 90_000) == Self.host - Self.second)
        #expect(clock.state == .synced(offset: .milliseconds(-25)))
    }

    @Test("Reports of others and reports without a time are ignored")
    func ignored() {
        var clock = WallClock(clockRate: 90_000)
        clock.note(Self.report(0, at: 0, ssrc: 8), of: 7, host: Self.host)
        clock.note(Self.report(0, at: 0), of: nil, host: Self.host)
        clock.note(SenderReport(ssrc: 7, time: NTPTime(value: 0), timestamp: 0), of: 7, host: Self.host)
        #expect(clock.state == .unknown)
    }

    @Test(
        "A clock that was never set or is more than a day off is unsynced",
        arguments: [-1_366_024_518, -86_401, 86_401])
    func unsynced(_ offset: Int) {
        var clock = WallClock(clockRate: 90_000)
        clock.note(Self.report(Double(offset), at: 0), of: 7, host: Self.host)
        #expect(clock.state == .unsynced(offset: .seconds(offset)))
        #expect(clock.time(of: 0) == Self.host + Int64(offset) * Self.second)
    }

    @Test("A machine and a camera that both begin in 1970 are not in sync")
    func bothUnset() {
        var clock = WallClock(clockRate: 90_000)
        clock.note(Self.report(-1_366_024_518, at: 0), of: 7, host: 10 * Self.second)
        #expect(clock.state == .unsynced(offset: .seconds(-10)))
    }

    @Test("Times are counted on over wraps without further reports")
    func wraps() {
        var clock = WallClock(clockRate: 90_000)
        clock.note(Self.report(0, at: 0), of: 7, host: Self.host)
        for step in 0..<200 {
            let seconds = Int64(step) * 3600
            let time = clock.time(of: UInt32(truncatingIfNeeded: seconds * 90_000))
            #expect(time == Self.host + seconds * Self.second)
        }
    }

    @Test("Reports that jitter by 100 ms are averaged to a tenth of that")
    func jitter() {
        var random = SplitMix64(seed: 3)
        var clock = WallClock(clockRate: 90_000)
        var worst: Int64 = 0
        for step in 0..<500 {
            let timestamp = UInt32(truncatingIfNeeded: step * 450_000)
            let jitter = (random.fraction() - 0.5) * 0.2
            clock.note(Self.report(Double(step * 5) + jitter, at: timestamp), of: 7, host: Self.host)
            guard step > 20, let time = clock.time(of: timestamp) else { continue }
            worst = max(worst, abs(time - Self.host - Int64(step * 5) * Self.second))
        }
        #expect(worst < 50_000_000)
        #expect(worst > 0)
        #expect(clock.outliers == 0)
    }

    @Test("One report that is far off is ignored; the second report of a clock that was set is followed")
    func outlier() {
        var clock = WallClock(clockRate: 90_000)
        clock.note(Self.report(0, at: 0), of: 7, host: Self.host)
        clock.note(Self.report(1000, at: 450_000), of: 7, host: Self.host)
        #expect(clock.time(of: 450_000) == Self.host + 5 * Self.second)
        clock.note(Self.report(10, at: 900_000), of: 7, host: Self.host)
        #expect(clock.time(of: 900_000) == Self.host + 10 * Self.second)
        clock.note(Self.report(3615, at: 1_350_000), of: 7, host: Self.host)
        clock.note(Self.report(3620, at: 1_800_000), of: 7, host: Self.host)
        #expect(clock.time(of: 1_800_000) == Self.host + 3620 * Self.second)
        #expect(clock.outliers == 2)
    }

    @Test("The reply to PLAY counts until the first report")
    func play() {
        var clock = WallClock(clockRate: 90_000)
        clock.notePlay(Self.host, at: 100, host: Self.host)
        #expect(clock.time(of: 100 + 180_000) == Self.host + 2 * Self.second)
        clock.note(Self.report(7, at: 100), of: 7, host: Self.host)
        #expect(clock.time(of: 100) == Self.host + 7 * Self.second)
        clock.notePlay(Self.host, at: 100, host: Self.host)
        #expect(clock.time(of: 100) == Self.host + 7 * Self.second)
    }

    @Test("A PLAY reply's time after a pause applies from the first unit that follows, and an earlier one does not")
    func resumed() {
        var clock = WallClock(clockRate: 90_000)
        clock.note(Self.report(0, at: 0), of: 7, host: Self.host)
        #expect(clock.time(of: 90_000) == Self.host + Self.second)
        // The reply to PLAY arrives while the earlier units are still the stream's.
        clock.notePlay(Self.host + 100 * Self.second, at: 5_000_000, host: Self.host)
        clock.reset()
        clock.beginTimeline(at: 5_090_000)
        #expect(clock.time(of: 5_090_000) == Self.host + 101 * Self.second)
        // The next timeline is another: nothing is known about it.
        clock.beginTimeline(at: 5_000_000)
        #expect(clock.time(of: 5_000_000) == nil)
    }

    @Test("A report between a restart and the first unit after it is kept")
    func reportBeforeUnit() {
        var clock = WallClock(clockRate: 90_000)
        clock.note(Self.report(0, at: 0), of: 7, host: Self.host)
        _ = clock.time(of: 90_000)
        clock.reset()
        clock.note(Self.report(50, at: 777), of: 7, host: Self.host)
        clock.beginTimeline(at: 777 + 90_000)
        #expect(clock.time(of: 777 + 90_000) == Self.host + 51 * Self.second)
    }

    @Test("A report that fits the timestamps after a jump, and not those before, is kept when the jump is certain")
    func reportOfJump() {
        var clock = WallClock(clockRate: 90_000)
        clock.note(Self.report(0, at: 0), of: 7, host: Self.host)
        _ = clock.time(of: 90_000)
        clock.note(Self.report(3, at: 3_000_000_000), of: 7, host: Self.host)
        clock.beginTimeline(at: 3_000_090_000)
        #expect(clock.time(of: 3_000_090_000) == Self.host + 4 * Self.second)
    }

    @Test("A PLAY reply's time for a timestamp that the stream does not have is ignored")
    func playElsewhere() {
        var clock = WallClock(clockRate: 90_000)
        clock.notePlay(Self.host, at: 0, host: Self.host)
        #expect(clock.time(of: 2_000_000_000) == nil)
        #expect(clock.state == .unknown)
    }

    @Test("A report with the timestamp 0 of a stream that is elsewhere gives no time, before or after its units")
    func timestampNotFilledIn() {
        var clock = WallClock(clockRate: 90_000)
        clock.note(Self.report(0, at: 0), of: 7, host: Self.host)
        #expect(clock.time(of: 3_000_000_000) == nil)
        #expect(clock.state == .unknown)
        clock.note(Self.report(5, at: 0), of: 7, host: Self.host)
        clock.note(Self.report(10, at: 0), of: 7, host: Self.host)
        #expect(clock.time(of: 3_000_090_000) == nil)
        #expect(clock.outliers == 3)
        // A completed report counts, and others change nothing.
        clock.note(Self.report(15, at: 3_000_180_000), of: 7, host: Self.host)
        clock.note(Self.report(20, at: 0), of: 7, host: Self.host)
        clock.note(Self.report(25, at: 0), of: 7, host: Self.host)
        #expect(clock.time(of: 3_000_180_000) == Self.host + 15 * Self.second)
    }

    @Test("A stream whose timestamps wrap is at 0 for once", arguments: [0, 90_000, 4_294_877_296] as [UInt32])
    func timestampIsZero(_ timestamp: UInt32) {
        var clock = WallClock(clockRate: 90_000)
        clock.note(Self.report(0, at: 0), of: 7, host: Self.host)
        let expected = Self.host + Int64(Int32(bitPattern: timestamp)) / 90_000 * Self.second
        #expect(clock.time(of: timestamp) == expected)
    }

    @Test("Any reports are accepted without a crash")
    func mutated() {
        var random = SplitMix64(seed: 9)
        var clock = WallClock(clockRate: Int(truncatingIfNeeded: random.next()))
        for _ in 0..<5000 {
            let report = SenderReport(
                ssrc: 7, time: NTPTime(value: random.next()), timestamp: UInt32(truncatingIfNeeded: random.next()))
            clock.note(report, of: 7, host: Int64(bitPattern: random.next()))
            #expect(clock.time(of: UInt32(truncatingIfNeeded: random.next())) != nil)
        }
        #expect(clock.outliers > 0)
    }
}
