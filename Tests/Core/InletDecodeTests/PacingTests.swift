import Dispatch
import InletCore
import InletTesting
import Logging
import ReferenceTools
import Testing

@testable import InletDecode

/// A source that is played in real time on a machine that wakes threads late.
@Suite struct PacingTests {
    private static let parameters = CodecParameters(
        codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 25), profile: 66)

    /// A clock whose waits take up to 9 ms longer than requested.
    private final class LateClock: CaptureClock {
        private let clock = ManualClock()

        var now: MonotonicTime { clock.now }

        func advance(by duration: Duration) { clock.advance(by: duration) }

        func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
            let lateness = Duration.milliseconds(deadline.nanoseconds / 40_000_000 * 7 % 10)
            clock.advance(by: max(.zero, deadline - clock.now) + lateness)
            return true
        }

        func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
            clock.makeTimer(on: queue, handler: handler)
        }
    }

    private static func packet(_ number: Int64, bytes: Int) -> SourcePacket {
        let time = MediaTime(ticks: number, timeBase: parameters.timeBase)
        return SourcePacket(
            parameters: parameters, data: PacketData([UInt8](repeating: 0, count: bytes)), pts: time, dts: time,
            flags: .key)
    }

    /// Key frames 40 ms apart.
    private final class Source: FrameSource {
        private var next: Int64 = 0
        private let count: Int64

        init(_ count: Int64) { self.count = count }

        func open(_ context: SourceContext) throws -> SourceFormat {
            SourceFormat(packets: parameters, pacing: .realtime)
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            guard next < count else { return nil }
            next += 1
            return .packet(packet(next - 1, bytes: 1))
        }

        func close() {}
    }

    private final class Run {
        let clock = LateClock()
        private let context: SourceContext
        private let source: DecodingSource

        init(packets: Int64 = .max) throws {
            context = SourceContext(clock: clock, logger: Logger(label: "test"))
            source = DecodingSource(
                Source(packets),
                DecodingSettings([
                    DecoderPlugin("plain", summary: "") { DelayingDecoder(parameters.size, delay: 3, reorderDepth: 0) }
                ]))
            demand(pictures: true, packets: true)
            _ = try source.open(context)
        }

        func demand(pictures: Bool, packets: Bool) {
            var demand = SourceDemand.everything
            (demand.pictures, demand.packets) = (pictures, packets)
            context.setDemand(demand)
        }

        /// Returns the next item, with its number and its capture time.
        func next() throws -> (isPicture: Bool, number: Int64, time: MonotonicTime)? {
            switch try source.next(context) {
            case .frame(let frame): try (true, #require(frame.pts).ticks, #require(frame.captureTime))
            case .packet(let packet): try (false, #require(packet.dts).ticks, #require(packet.captureTime))
            case nil: nil
            }
        }
    }

    @Test(
        "The capture time is when a picture or packet was due, however late it is",
        arguments: [(true, false), (false, true), (true, true)])
    func lateness(pictures: Bool, packets: Bool) throws {
        let run = try Run()
        run.demand(pictures: pictures, packets: packets)
        let first = try #require(try run.next())
        var lateness: Set<Duration> = []
        for _ in 1...50 {
            let next = try #require(try run.next())
            #expect(next.isPicture ? pictures : packets)
            let due = first.time + .milliseconds(40 * (next.number - first.number))
            #expect(next.time == due && run.clock.now >= due)
            lateness.insert(run.clock.now - due)
        }
        #expect(lateness.count > 5, "the clock was late by different times")
        // After a stop that is too long to catch up with, the next is due now.
        run.clock.advance(by: .seconds(5))
        let stopped = run.clock.now
        let next = try #require(try run.next())
        #expect(next.time == stopped)
        let last = try #require(try run.next())
        #expect(last.time == stopped + .milliseconds(40 * (last.number - next.number)))
    }

    @Test("Packets next to pictures are in time, and stay so to the last when pictures are not wanted any more")
    func beside() throws {
        let run = try Run(packets: 30)
        let first = try #require(try run.next())
        #expect(!first.isPicture && first.number == 0)
        var (pictures, packets): ([Int64], [Int64]) = ([], [0])
        while let next = try run.next() {
            #expect(next.time == first.time + .milliseconds(40 * next.number))
            if next.isPicture {
                // The decoder outputs the pictures that it held at the end.
                guard pictures.count < 10 else { continue }
                #expect(packets.last == next.number, "the picture's own packet is the last before it")
                pictures.append(next.number)
            } else {
                packets.append(next.number)
            }
            if pictures.count == 10 { run.demand(pictures: false, packets: true) }
        }
        #expect(packets == Array(0..<30))
        #expect(pictures == Array(0..<10))
    }

    @Test("The number and the bytes of packets that wait for a picture are bounded")
    func bounds() throws {
        for bytes in [1, 2 << 20] {
            var queue = PlaybackQueue()
            var taken: [Int64] = []
            for number in 0..<100 as Range<Int64> {
                queue.add(.packet(Self.packet(number, bytes: bytes)))
                taken += Self.takeAll(&queue, picturesFollow: true).map(\.number)
            }
            let held = bytes == 1 ? 63 : 7
            #expect(taken == Array(0..<Int64(100 - held)))
            taken += Self.takeAll(&queue, picturesFollow: false).map(\.number)
            #expect(taken == Array(0..<100))
        }
    }

    @Test("Each picture follows its own packet, with long and short times between pictures")
    func longIntervals() throws {
        var queue = PlaybackQueue()
        var taken: [Taken] = []
        for number in 0..<20 as Range<Int64> {
            // 5 s each.
            queue.add(.packet(Self.packet(number * 125, bytes: 1)))
            taken += Self.takeAll(&queue, picturesFollow: true)
            guard number >= 2 else { continue }
            queue.add(.frame(try Self.picture((number - 2) * 125)))
            taken += Self.takeAll(&queue, picturesFollow: true)
        }
        #expect(taken == (0..<18).flatMap { [Taken(false, $0 * 125), Taken(true, $0 * 125)] })
    }

    @Test("Items from before a step back in time come first", arguments: [1000, 50] as [Int64])
    func stepBack(last: Int64) throws {
        var queue = PlaybackQueue()
        var taken: [Taken] = []
        let times = [last - 1, last, 0, 1, 2]
        for (index, time) in times.enumerated() {
            queue.add(.packet(Self.packet(time, bytes: 1)))
            taken += Self.takeAll(&queue, picturesFollow: true)
            guard index >= 2 else { continue }
            queue.add(.frame(try Self.picture(times[index - 2])))
            taken += Self.takeAll(&queue, picturesFollow: true)
        }
        #expect(taken == [last - 1, last, 0].flatMap { [Taken(false, $0), Taken(true, $0)] })
        // Pictures that never step back do not delay packets for longer than the limit.
        for time in 3..<200 as Range<Int64> {
            queue.add(.packet(Self.packet(time, bytes: 1)))
            if time == 100 { queue.add(.packet(Self.packet(0, bytes: 1))) }
            queue.add(.frame(try Self.picture(time)))
            taken = Self.takeAll(&queue, picturesFollow: true)
        }
        #expect(taken.last?.isPicture == true)
        #expect(Self.takeAll(&queue, picturesFollow: false).count < 64)
    }

    private struct Taken: Equatable {
        var isPicture: Bool
        var number: Int64

        init(_ isPicture: Bool, _ number: Int64) { (self.isPicture, self.number) = (isPicture, number) }
    }

    private static func takeAll(_ queue: inout PlaybackQueue, picturesFollow: Bool) -> [Taken] {
        var taken: [Taken] = []
        while let item = queue.take(picturesFollow: picturesFollow) {
            switch item {
            case .packet(let packet): taken.append(Taken(false, packet.dts?.ticks ?? -1))
            case .frame(let frame): taken.append(Taken(true, frame.pts?.ticks ?? -1))
            }
        }
        return taken
    }

    private static func picture(_ number: Int64) throws -> SourceFrame {
        let picture = try I420Draft(size: parameters.size).publish()
        return SourceFrame(picture, pts: MediaTime(ticks: number, timeBase: parameters.timeBase), sequence: 0)
    }
}
