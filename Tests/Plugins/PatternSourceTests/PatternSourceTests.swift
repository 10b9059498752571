import Foundation
import InletCore
import InletTesting
import PatternSource
import ReferenceTools
import Testing

struct PatternSourceTests {
    static let small = ImageSize(width: 64, height: 64)

    @Test("every pattern keeps the source contract", arguments: TestPattern.allCases)
    func conformance(pattern: TestPattern) async {
        var suite = SourceConformance()
        suite.isDeterministic = true
        let configuration = PatternConfiguration(pattern, size: ImageSize(width: 81, height: 67), pace: .unpaced)
        #expect(await suite.check(configuration) == [])
    }

    @Test("a paced pattern keeps the source contract, including a cancellation during its sleep")
    func pacedConformance() async {
        var suite = SourceConformance()
        suite.frames = 4
        #expect(await suite.check(PatternConfiguration(.ball, size: Self.small, frameRate: Rational(5))) == [])
    }

    @Test(
        "frames are counted in ticks of one frame", arguments: ["30", "30000/1001", "1/1000", "1000", "29.97", "7/3"])
    func exactTimes(rate: String) throws {
        let rate = try #require(Rational(optionText: rate))
        let run = try PatternRun(
            PatternConfiguration(.solid, size: Self.small, frameRate: rate, frames: 5, pace: .unpaced))
        #expect(run.format.timeBase == rate.reciprocal)
        #expect(run.format.duration == MediaTime(ticks: 5, timeBase: run.format.timeBase))
        #expect(run.format.pacing == .unpaced)
        for number in 0..<5 {
            let frame = try #require(try run.next())
            #expect(frame.pts?.ticks == Int64(number))
            #expect(frame.pts?.timeBase == rate.reciprocal)
            #expect(frame.sequence == UInt64(number))
            #expect(frame.captureTime == nil)
        }
        #expect(try run.next() == nil)
    }

    @Test("a paced frame arrives exactly when it is due, without accumulating errors")
    func dueTimes() throws {
        let clock = ManualClock(waiting: .movesTime)
        let rate = Rational(30000, 1001)
        let run = try PatternRun(PatternConfiguration(.solid, size: Self.small, frameRate: rate), clock: clock)
        #expect(run.format.pacing == .live)
        let start = clock.now
        for number in 0..<100_000 {
            let frame = try #require(try run.next())
            guard frame.sequence == UInt64(number), frame.captureTime == clock.now else {
                Issue.record("frame \(number) has the number \(frame.sequence) at \(clock.now)")
                return
            }
        }
        // 99,999 * 1001 / 30000 s, rounded down to a nanosecond.
        #expect(clock.now - start == .nanoseconds(3_336_633_300_000))
        #expect(run.context.dropCounts.isEmpty)
    }

    @Test("frames that were not taken in time leave a gap in the sequence, and the newest due one arrives at once")
    func lateConsumer() throws {
        let clock = ManualClock(waiting: .movesTime)
        let run = try PatternRun(
            PatternConfiguration(.solid, size: Self.small, frameRate: Rational(10), frames: 20), clock: clock)
        #expect(try run.next()?.sequence == 0)
        // A delay of less than a frame loses nothing.
        clock.advance(by: .milliseconds(199))
        #expect(try run.next()?.sequence == 1)
        clock.advance(by: .milliseconds(550))
        let returned = clock.now
        #expect(try run.next()?.sequence == 7)
        #expect(clock.now == returned)
        // The bridge counts the gap.
        #expect(run.context.dropCounts.isEmpty)
        // The remaining frames are lost at the end, because no later frame shows the gap.
        clock.advance(by: .seconds(60))
        #expect(try run.next() == nil)
        #expect(run.context.dropCounts == [.lostBySource: 12])
    }

    @Test("a still pattern is drawn once, and every frame shares that memory", arguments: TestPattern.allCases)
    func sharing(pattern: TestPattern) throws {
        let run = try PatternRun(PatternConfiguration(pattern, size: Self.small, pace: .unpaced))
        let first = try #require(try run.next())
        let second = try #require(try run.next())
        let moves: Set<TestPattern> = [.ball, .noise, .timecode]
        #expect((first.owner === second.owner) == !moves.contains(pattern))
        let same = try PatternRun.picture(first).packedBytes == PatternRun.picture(second).packedBytes
        #expect(same == !moves.contains(pattern))
    }

    @Test("a paced source whose pictures are all held drops frames until one is released")
    func exhaustedPaced() throws {
        let clock = ManualClock(waiting: .movesTime)
        let run = try PatternRun(
            PatternConfiguration(.ball, size: Self.small, frameRate: Rational(10), frames: 10, buffers: 2), clock: clock
        )
        var held = [try run.next(), try run.next()]
        #expect(try run.next() == nil)
        #expect(run.context.dropCounts == [.poolExhausted: 8])
        #expect(clock.now == MonotonicTime(nanoseconds: 1_000_000_000) + .milliseconds(900))
        held.removeAll()
    }

    @Test("an unpaced source whose pictures are all held waits 100 ms for each")
    func exhaustedUnpaced() throws {
        let clock = ManualClock(waiting: .movesTime)
        let run = try PatternRun(
            PatternConfiguration(
                .ball, size: Self.small, frames: 10, pace: .unpaced, buffers: 2),
            clock: clock)
        var held = [try run.next(), try run.next()]
        let start = clock.now
        #expect(try run.next() == nil)
        #expect(run.context.dropCounts == [.poolExhausted: 8])
        #expect(clock.now - start == .milliseconds(800))
        held.removeAll()
    }

    @Test("the seed determines the noise and the ball's path", arguments: [TestPattern.noise, .ball])
    func seeds(pattern: TestPattern) throws {
        func fifth(seed: UInt64) throws -> Data {
            let run = try PatternRun(PatternConfiguration(pattern, size: Self.small, pace: .unpaced, seed: seed))
            for _ in 0..<4 { _ = try run.next() }
            return try PatternRun.picture(#require(try run.next())).packedBytes
        }
        #expect(try fifth(seed: 3).isSame(as: fifth(seed: 3)))
        #expect(try !fifth(seed: 3).isSame(as: fifth(seed: 4)))
    }

    @Test("a frame does not depend on lost frames before it")
    func independentFrames() throws {
        for pattern in [TestPattern.noise, .ball] {
            let clock = ManualClock(waiting: .movesTime)
            let configuration = PatternConfiguration(pattern, size: Self.small, frameRate: Rational(10))
            let whole = try PatternRun(configuration)
            let gappy = try PatternRun(configuration, clock: clock)
            _ = try gappy.next()
            clock.advance(by: .milliseconds(500))
            let late = try #require(try gappy.next())
            var same: SourceFrame?
            repeat { same = try whole.next() } while same.map { $0.sequence < late.sequence } ?? false
            #expect(same?.pts == late.pts)
            let expected = try PatternRun.picture(#require(same))
            #expect(try PatternRun.picture(late).packedBytes.isSame(as: expected.packedBytes))
        }
    }

    @Test("colour is BT.709 from 720 lines up and BT.601 below, in limited range")
    func colorSpace() throws {
        for (height, expected) in [(719, ColorSpace.bt601), (720, .bt709)] {
            let run = try PatternRun(
                PatternConfiguration(.smpte, size: ImageSize(width: 64, height: height), pace: .unpaced))
            #expect(run.format.colorSpace == expected)
            #expect(try run.next()?.colorSpace == expected)
        }
    }
}
