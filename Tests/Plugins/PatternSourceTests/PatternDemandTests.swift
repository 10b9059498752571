import Dispatch
import InletCore
import InletTesting
import Synchronization
import Testing

@testable import PatternSource

/// The frames that a pattern skips if its sinks want fewer, and while it is paused.
struct PatternDemandTests {
    private static let size = ImageSize(width: 64, height: 64)

    /// A manual clock that counts sleeps and reports each.
    private final class CountingClock: CaptureClock {
        let clock = ManualClock(waiting: .movesTime)
        let sleeps = Atomic(0)
        private let onSleep: @Sendable (Int) -> Void
        var now: MonotonicTime { clock.now }

        init(onSleep: @escaping @Sendable (Int) -> Void = { _ in }) { self.onSleep = onSleep }

        func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
            onSleep(sleeps.add(1, ordering: .relaxed).newValue)
            return clock.wait(until: deadline, wakeUpDescriptor: wakeUpDescriptor)
        }

        func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
            clock.makeTimer(on: queue, handler: handler)
        }
    }

    private func configuration(
        _ rate: Int, frames: UInt64 = 0, pace: PatternConfiguration.Pace = .realtime, buffers: Int = 16,
        _ pattern: TestPattern = .solid
    ) -> PatternConfiguration {
        PatternConfiguration(
            pattern, size: Self.size, frameRate: Rational(rate), frames: frames, pace: pace, buffers: buffers)
    }

    @Test(
        "A pattern draws and wakes only at the demanded rate, evenly, without a gap in the sequence",
        arguments: [10, 5, 3])
    func demandedRate(rate: Int) throws {
        let clock = CountingClock()
        let start = clock.now
        let run = try PatternRun(
            configuration(30), clock: clock, demand: SourceDemand(maximumFrameRate: Rational(rate)))
        for index in 0..<100 {
            let frame = try #require(try run.next())
            #expect(frame.sequence == UInt64(index))
            #expect(frame.pts?.ticks == Int64(index * 30 / rate))
            #expect(clock.now - start == .nanoseconds(Int64(index) * 1_000_000_000 / Int64(rate)))
        }
        #expect(clock.sleeps.load(ordering: .relaxed) == 99)
        #expect(run.context.dropCounts.isEmpty)
    }

    @Test("The frames nearest to the demanded spacing are drawn, at any ratio, and exactly over a long time")
    func anyRatio() {
        let rate = Rational(60000, 1001)
        for wanted in [Rational(24000, 1001), Rational(25), Rational(59), Rational(1, 60), Rational(7, 3)] {
            let frames = DemandedFrames(from: 1000, at: wanted, of: rate)
            let ratio = rate.doubleValue / wanted.doubleValue
            for index in [0, 1, 2, 3, 10, 999, 100_000] as [UInt64] {
                let number = frames.number(index)
                #expect(abs(Double(number) - 1000 - Double(index) * ratio) <= 0.500_001)
                // Counts in the other direction.
                #expect(frames.count(through: number) == index + 1)
                #expect(frames.count(through: number - 1) == index)
            }
        }
    }

    @Test(
        "A demand that is not below the rate, or is invalid, means every frame",
        arguments: [nil, 30, 31, 0, -5])
    func everything(rate: Int?) {
        let frames = DemandedFrames(from: 7, at: rate.map { Rational($0) }, of: Rational(30))
        #expect((0..<100).allSatisfy { frames.number($0) == $0 + 7 })
        #expect((7..<100).allSatisfy { frames.count(through: $0) == $0 - 6 })
        #expect(frames.count(through: 6) == 0)
    }

    @Test("Numbers that are too large are clamped")
    func extremes() {
        let frames = DemandedFrames(from: 0, at: Rational(1, .max), of: Rational(1000))
        #expect(frames.number(0) == 0)
        #expect(frames.number(.max) == .max)
        #expect(frames.count(through: .max) <= 2)
    }

    @Test("A higher demand is met from the next frame on, and frames that were not wanted before are not lost")
    func higherDemand() throws {
        let clock = ManualClock(waiting: .movesTime)
        let run = try PatternRun(
            configuration(30), clock: clock, demand: SourceDemand(maximumFrameRate: Rational(1, 10)))
        #expect(try run.next()?.pts?.ticks == 0)
        // Two seconds later, during the wait for the next frame, all frames are wanted.
        clock.advance(by: .seconds(2))
        run.context.setDemand(.everything)
        let next = try #require(try run.next())
        #expect(next.pts?.ticks == 60 && next.sequence == 1)
        let following = try #require(try run.next())
        #expect(following.pts?.ticks == 61 && following.sequence == 2)
        #expect(run.context.dropCounts.isEmpty)
    }

    @Test("A change of the demanded size does not change the spacing")
    func otherSize() throws {
        let run = try PatternRun(configuration(30), demand: SourceDemand(maximumFrameRate: Rational(10)))
        var ticks: [Int64?] = []
        for width in [100, 200, 200, 50] {
            ticks.append(try run.next()?.pts?.ticks)
            run.context.setDemand(
                SourceDemand(maximumFrameRate: Rational(10), largestSize: ImageSize(width: width, height: 100)))
        }
        #expect(ticks == [0, 3, 6, 9])
    }

    @Test("A waiting pattern checks for a higher demand at least twice a second")
    func longWait() throws {
        let clock = CountingClock()
        let run = try PatternRun(
            configuration(30), clock: clock, demand: SourceDemand(maximumFrameRate: Rational(1, 10)))
        _ = try run.next()
        #expect(try run.next()?.pts?.ticks == 300)
        #expect(clock.sleeps.load(ordering: .relaxed) == 20)
    }

    @Test("A late caller loses only the frames that were wanted")
    func lostFrames() throws {
        let clock = ManualClock(waiting: .movesTime)
        let run = try PatternRun(
            configuration(30), clock: clock, demand: SourceDemand(maximumFrameRate: Rational(10)))
        _ = try run.next()
        // 3, 6, 9 and 12 are due; 12 is the newest.
        clock.advance(by: .milliseconds(430))
        let frame = try #require(try run.next())
        #expect(frame.pts?.ticks == 12 && frame.sequence == 4)
        #expect(run.context.dropCounts.isEmpty)
    }

    @Test("An unpaced pattern also skips frames that are not wanted, and ends at the same frame")
    func unpaced() throws {
        let run = try PatternRun(
            configuration(30, frames: 10, pace: .unpaced), demand: SourceDemand(maximumFrameRate: Rational(10)))
        var ticks: [Int64?] = []
        while let frame = try run.next() { ticks.append(frame.pts?.ticks) }
        #expect(ticks == [0, 3, 6, 9])
    }

    @Test("A frame without memory, because sinks hold it all, is counted by its reason and leaves no gap")
    func exhausted() throws {
        // The pictures are released in the third sleep: for frame 3, after there was no memory for frame 2.
        let held = Mutex<[SourceFrame?]>([])
        let clock = CountingClock { if $0 == 3 { held.withLock { $0.removeAll() } } }
        let run = try PatternRun(configuration(30, buffers: 2, .ball), clock: clock)
        for _ in 0..<2 {
            let frame = try run.next()
            held.withLock { $0.append(frame) }
        }
        let frame = try #require(try run.next())
        #expect(frame.pts?.ticks == 3 && frame.sequence == 2)
        #expect(run.context.dropCounts == [.poolExhausted: 1])
    }

    @Test(
        "A pause loses nothing: the sequence continues, and the PTS follows the time",
        arguments: [.everything, SourceDemand(maximumFrameRate: Rational(10))])
    func pause(demand: SourceDemand) throws {
        let clock = ManualClock(waiting: .movesTime)
        let run = try PatternRun(configuration(30), clock: clock, demand: demand)
        for _ in 0..<3 { _ = try run.next() }
        #expect(try run.source.pause(run.context))
        clock.advance(by: .seconds(60))
        try run.source.resume(run.context)
        let first = try #require(try run.next())
        #expect(first.sequence == 3)
        #expect(first.pts?.ticks == (demand == .everything ? 1802 : 1806))
        #expect(first.captureTime == clock.now)
        #expect(try run.next()?.sequence == 4)
        #expect(run.context.dropCounts.isEmpty)
    }

    @Test("A pattern that ends during a pause loses nothing")
    func pauseBeyondEnd() throws {
        let clock = ManualClock(waiting: .movesTime)
        let run = try PatternRun(configuration(30, frames: 10), clock: clock)
        _ = try run.next()
        #expect(try run.source.pause(run.context))
        clock.advance(by: .seconds(60))
        try run.source.resume(run.context)
        #expect(try run.next() == nil)
        #expect(run.context.dropCounts.isEmpty)
    }

    @Test("A pause before the first frame delays the beginning; an unpaced pattern continues where it was")
    func earlyPause() throws {
        for pace in [PatternConfiguration.Pace.realtime, .unpaced] {
            let clock = ManualClock(waiting: .movesTime)
            let run = try PatternRun(configuration(30, pace: pace), clock: clock)
            #expect(try run.source.pause(run.context))
            clock.advance(by: .seconds(1))
            try run.source.resume(run.context)
            #expect(try run.next()?.pts?.ticks == 0)
            #expect(try run.source.pause(run.context))
            try run.source.resume(run.context)
            #expect(try run.next()?.pts?.ticks == 1)
        }
    }
}
