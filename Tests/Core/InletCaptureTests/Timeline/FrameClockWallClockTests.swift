import InletCore
import InletTesting
import Testing

@testable import InletCapture

/// The time of day of frames.
@Suite struct FrameClockWallClockTests {
    private static let noon: Int64 = 1_700_000_000_000_000_000
    private let timeBase = Rational(1, 1000)

    private func stamp(
        _ clock: inout FrameClock, _ milliseconds: Int64?, at arrival: Int64, startsAnew: Bool = false,
        wallClock: Int64? = nil
    ) -> Int64? {
        clock.stamp(
            pts: milliseconds.map { MediaTime(ticks: $0, timeBase: timeBase) },
            arrival: MonotonicTime(nanoseconds: arrival * 1_000_000), startsAnew: startsAnew, wallClock: wallClock
        ).wallClock
    }

    @Test("Nothing is known before the source reports it; then every frame has its time of day, along the PTS")
    func alongThePTS() {
        var clock = FrameClock(pacing: .live)
        #expect(stamp(&clock, 0, at: 100) == nil)
        #expect(stamp(&clock, 40, at: 155) == nil)
        #expect(stamp(&clock, 80, at: 190, wallClock: Self.noon) == Self.noon)
        // Late by 200 ms, which does not affect the time of day.
        #expect(stamp(&clock, 120, at: 420) == Self.noon + 40_000_000)
        #expect(stamp(&clock, 160, at: 430) == Self.noon + 80_000_000)
        #expect(stamp(&clock, 200, at: 440, wallClock: Self.noon + 121_000_000) == Self.noon + 121_000_000)
        #expect(stamp(&clock, 240, at: 450) == Self.noon + 161_000_000)
    }

    @Test("Frames without a PTS, and those after a jump, have a time of day from their timestamps")
    func withoutPTS() throws {
        var clock = FrameClock(pacing: .live)
        _ = stamp(&clock, 0, at: 100, wallClock: Self.noon)
        _ = stamp(&clock, 40, at: 140)
        let between = try #require(stamp(&clock, nil, at: 180))
        #expect((Self.noon + 40_000_000...Self.noon + 80_000_000).contains(between))
        #expect(stamp(&clock, 80, at: 220) == Self.noon + 80_000_000)
        #expect(stamp(&clock, 500_000, at: 1100, startsAnew: true) == Self.noon + 1_000_000_000)
        #expect(stamp(&clock, 500_040, at: 1140) == Self.noon + 1_040_000_000)
    }

    @Test("A reconnect forgets the time of day")
    func reconnect() {
        var clock = FrameClock(pacing: .live)
        #expect(stamp(&clock, 0, at: 100, wallClock: Self.noon) == Self.noon)
        clock.reconnect(pacing: .live)
        #expect(stamp(&clock, 40, at: 140) == nil)
        #expect(stamp(&clock, 80, at: 180, wallClock: 5) == 5)
    }

    @Test("A slow source's time of day follows the machine's clock between two reports")
    func rate() throws {
        var clock = FrameClock(pacing: .live)
        for index in 0..<2000 as Range<Int64> { _ = stamp(&clock, index * 997, at: index * 1000 + 100) }
        _ = stamp(&clock, 2000 * 997, at: 2_000_100, wallClock: Self.noon)
        for index in 2001..<2010 as Range<Int64> { _ = stamp(&clock, index * 997, at: index * 1000 + 100) }
        let time = try #require(stamp(&clock, 2010 * 997, at: 2_010_100))
        #expect(abs(time - Self.noon - 10_000_000_000) < 100_000)
    }

    @Test("The capturer's frames have the time of day, and no capture time puts them in the future")
    func capturer() async throws {
        let capturer = Capturer(ReportingConfiguration())
        let frames = try await capturer.run(queue: .lossless()) { frames in
            var seen: [VideoFrame] = []
            for try await frame in frames { seen.append(frame) }
            return seen
        }
        #expect(frames.map(\.wallClock) == [nil, Self.noon, Self.noon + 40_000_000, Self.noon + 80_000_000])
        let now = SystemClock().now
        #expect(frames.count == 4 && frames.allSatisfy { $0.timestamp <= now })
    }

    /// A camera that reports the time of day with its second frame, and capture times an hour ahead.
    private struct ReportingConfiguration: FrameSourceConfiguration {
        var redactedURI: String { "reporting:" }
        func makeSource() -> any FrameSource { ReportingSource() }
    }

    private final class ReportingSource: FrameSource {
        private let format = ScriptedSource.format(pacing: .live)
        private var count: Int64 = 0

        func open(_ context: SourceContext) throws -> SourceFormat { format }

        func next(_ context: SourceContext) throws -> SourceItem? {
            guard count < 4 else { return nil }
            var draft = try I420Draft(size: format.size)
            draft.fill(y: 16, u: 128, v: 128)
            var frame = SourceFrame(
                draft.publish(), pts: MediaTime(ticks: count * 40, timeBase: Rational(1, 1000)), sequence: UInt64(count)
            )
            if count == 1 { frame.wallClock = FrameClockWallClockTests.noon }
            frame.captureTime = context.clock.now + .seconds(3600)
            count += 1
            return .frame(frame)
        }

        func close() {}
    }
}
