import InletCore
import InletOutput
import InletTesting
import NIOCore
import Synchronization
import Testing

@testable import InletServe

struct PacketHistoryTests {
    /// A packet of a camera with 10 pictures a second and a key frame each second.
    private static func packet(_ number: Int, bytes: Int = 100, every interval: Int = 10) -> EncodedPacket {
        let time = MediaTime(ticks: Int64(number) * 100_000_000, timeBase: Rational(1, 1_000_000_000))
        return EncodedPacket(
            data: PacketData([UInt8](repeating: 0, count: bytes)), pts: time, dts: time, isKey: number % interval == 0,
            captureTime: MonotonicTime(nanoseconds: time.ticks))
    }

    @Test(
        "The history begins at a key frame, covers the time, and at most one group more",
        arguments: [(0, 1), (1, 11), (3, 31)])
    func time(_ seconds: Int, _ least: Int) {
        var history = PacketHistory(.init(duration: .seconds(seconds), bytes: 1 << 20))
        // The first packets do not begin with a key frame.
        for number in 5..<10 { history.add(Self.packet(number)) }
        #expect(history.packets.isEmpty)
        for number in 10..<200 {
            history.add(Self.packet(number))
            #expect(history.packets.first?.isKey == true)
            guard number > 10 + seconds * 10 else { continue }
            #expect((least...least + 10).contains(history.packets.count), "\(number)")
        }
        history.limits.duration = .zero
        #expect(history.packets.count == 10)
    }

    @Test("No more than the permitted bytes are kept, whatever the key frames do")
    func bytes() {
        var history = PacketHistory(.init(duration: .seconds(60), bytes: 20_000))
        for number in 0..<500 {
            history.add(Self.packet(number, bytes: 744))
            #expect(history.byteCount <= 20_000)
            #expect(history.packets.count * 1000 == history.byteCount)
        }
        #expect(history.packets.count >= 10)
        // No more key frames arrive: the history ends, and nothing is kept without one.
        for number in 500..<600 { history.add(Self.packet(number, bytes: 744, every: 1000)) }
        #expect(history.packets.isEmpty && history.byteCount == 0)
    }

    @Test("A key frame is requested while a job waits for one, for lack of earlier packets or after drops")
    func requests() throws {
        let hub = PacketHub(.init(duration: .zero, bytes: 1 << 24))
        var jobs: [PacketJob] = []
        func attach() {
            hub.attach { items in
                let job = PacketJob(items)
                jobs.append(job)
                return job
            }
        }
        hub.write(Self.packet(1))
        #expect(!hub.wantsKeyFrame)
        attach()
        hub.write(Self.packet(2))
        #expect(hub.wantsKeyFrame)
        hub.write(Self.packet(10))
        #expect(!hub.wantsKeyFrame)
        attach()
        #expect(!hub.wantsKeyFrame, "the second job begins with the last key frame")
        // No thread takes the packets.
        for number in 11..<5000 { hub.write(Self.packet(number, every: 10_000)) }
        #expect(hub.wantsKeyFrame && jobs.allSatisfy { $0.needsKeyFrame })
        for job in jobs { job.finish() }
        #expect(jobs.count == 2 && !hub.wantsKeyFrame)
    }

    @Test("A distance that is much longer than usual is a gap, at any picture rate")
    func gaps() {
        var gaps = GapDetector()
        var found: [GapDetector.Gap] = []
        let times = [0, 40, 80, 120, 160, 400, 440, 1440, 1480, 1520]
        for time in times {
            if let gap = gaps.add(MonotonicTime(nanoseconds: Int64(time) * 1_000_000)) { found.append(gap) }
        }
        #expect(found.map(\.start) == [.milliseconds(440)] && found.map(\.length) == [.milliseconds(1000)])
        // A picture every five seconds is not a row of gaps.
        gaps = GapDetector()
        #expect((0..<10).allSatisfy { gaps.add(MonotonicTime(nanoseconds: Int64($0) * 5_000_000_000)) == nil })
    }

    /// Counts the packets that it gets.
    private final class Counter: PacketSink {
        let seen: Seen
        init(_ seen: Seen) { self.seen = seen }
        func start(_ parameters: CodecParameters) {}
        func write(_ packet: EncodedPacket) { seen.times.withLock { $0.append(packet.captureTime) } }
    }

    private final class Seen: Sendable {
        let times = Mutex<[MonotonicTime]>([])
    }

    @Test("A job that begins with the history misses no packet and gets none twice, whenever it begins")
    func job() async throws {
        let hub = PacketHub(.init(duration: .seconds(2), bytes: 1 << 20))
        hub.start(CodecParameters(codec: .h264, size: ImageSize(width: 16, height: 16), timeBase: Rational(1, 1000)))
        for number in 0..<55 { hub.write(Self.packet(number)) }
        let seen = Seen()
        var made: PacketJob?
        hub.attach { items in
            let job = PacketJob(items)
            made = job
            return job
        }
        let job = try #require(made)
        for number in 55..<95 { hub.write(Self.packet(number)) }
        await withCheckedContinuation { continuation in
            do {
                try job.begin(named: "test", makeSink: { Counter(seen) }, onEnd: { _ in continuation.resume() })
            } catch {
                Issue.record(error)
            }
            hub.detach(job)
            hub.write(Self.packet(95))
            job.finish()
        }
        // From the key frame two seconds before.
        #expect(seen.times.withLock { $0 } == (30..<95).map { Self.packet($0).captureTime })
        #expect(job.dropped == 0)
    }

    @Test("A slow client skips whole fragments up to a key frame, and its queue is bounded")
    func slow() {
        func fragment(_ number: Int) -> FragmentQueue.Piece {
            .fragment(ByteBuffer(repeating: UInt8(number), count: 500_000), isKey: number % 5 == 0, FragmentTimes())
        }
        var queue = FragmentQueue()
        queue.add(.beginning(ByteBuffer(string: "moov")))
        for number in 3...6 { queue.add(fragment(number)) }
        // The client does not get the packets before the first key frame.
        #expect(queue.take().map { $0.getBytes(at: 0, length: 1)?.first } == [UInt8(ascii: "m"), 5, 6])
        for number in 7..<100 {
            queue.add(fragment(number))
            var copy = queue
            #expect(copy.take().reduce(0) { $0 + $1.readableBytes } <= FragmentQueue.longest)
        }
        let left = queue.take().compactMap { $0.getBytes(at: 0, length: 1)?.first }
        #expect(left.first.map { $0 % 5 == 0 } == true && left.last == 99)
        #expect(left == Array((left.first ?? 0)...99))
        #expect(queue.skipped > 70 && queue.take().isEmpty)
    }
}
