import InletCapture
import InletCore
import PatternSource
import ReferenceTools
import Synchronization
import Testing

/// A sink that takes the source's packets and states whether it wants pictures, too.
@Suite struct PassThroughTests {
    /// Delivers a packet before each picture if packets are wanted, and pictures if those are wanted.
    private final class Camera: FrameSource, FrameSourceConfiguration {
        let hasPackets: Bool
        private let pictures = Mutex(PatternConfiguration(.smpte, size: ImageSize(width: 64, height: 48)).makeSource())
        private let next = Mutex((ticks: Int64(0), isPicture: false))
        var redactedURI: String { "camera" }

        init(hasPackets: Bool = true) { self.hasPackets = hasPackets }

        func makeSource() -> any FrameSource { self }

        func open(_ context: SourceContext) throws -> SourceFormat {
            var format = try pictures.withLock { try $0.open(context) }
            format.hasPackets = hasPackets
            return format
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            let demand = context.demand
            let (ticks, isPicture) = next.withLock { next in
                defer { next = (next.ticks + 1, !next.isPicture) }
                return next
            }
            if !demand.packets || isPicture && demand.pictures {
                return try pictures.withLock { try $0.next(context) }
            }
            let time = MediaTime(ticks: ticks, timeBase: Rational(1, 1000))
            let parameters = CodecParameters(
                codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: time.timeBase)
            let packet = SourcePacket(
                parameters: parameters, data: PacketData([1]), pts: time, dts: time, flags: .key)
            return .packet(packet)
        }

        func close() { pictures.withLock { $0.close() } }
    }

    private final class Record: Sendable {
        let counts = Mutex((pictures: 0, packets: 0, finishes: 0))
        let wish = PictureRequest()
        var pictures: Int { counts.withLock { $0.pictures } }
        var packets: Int { counts.withLock { $0.packets } }
    }

    private final class Sink: FrameSink {
        let record: Record
        let fails: Bool
        init(_ record: Record, fails: Bool = false) { (self.record, self.fails) = (record, fails) }
        func makePassThrough() -> PassThrough? {
            PassThrough(to: Packets(record, fails: fails), pictureRequest: record.wish)
        }
        func consume(_ frame: VideoFrame) { record.counts.withLock { $0.pictures += 1 } }
    }

    private final class Packets: PacketSink, Sendable {
        let record: Record
        let fails: Bool
        init(_ record: Record, fails: Bool) { (self.record, self.fails) = (record, fails) }
        func start(_ parameters: CodecParameters) {}
        func write(_ packet: EncodedPacket) throws {
            record.counts.withLock { $0.packets += 1 }
            if fails { throw InletError(.internal, "Enough.") }
        }
        func finish() { record.counts.withLock { $0.finishes += 1 } }
    }

    private func wait(until condition: @escaping @Sendable () -> Bool) async { await Waiting.until(condition) }

    @Test("It gets both; pictures stop and resume at its request, while packets continue", .timeLimit(.minutes(10)))
    func both() async throws {
        let record = Record()
        let capturer = Capturer(Camera())
        capturer.attach(Sink(record))
        async let outcome = capturer.run()
        await wait { record.pictures > 3 && record.packets > 3 }
        record.wish.set(false)
        // Pictures in flight may still arrive; then none arrives during 200 packets.
        var before = (0, 0)
        repeat {
            before = (record.pictures, record.packets)
            await wait { [before] in record.packets > before.1 + 200 }
        } while record.pictures != before.0
        record.wish.set(true)
        await wait { [before] in record.pictures > before.0 + 3 }
        capturer.stop()
        _ = try await outcome
        #expect(record.counts.withLock { $0.finishes } == 1)
    }

    @Test("A source without packets gives the sink pictures, whatever it requests", .timeLimit(.minutes(10)))
    func withoutPackets() async throws {
        let record = Record()
        let capturer = Capturer(PatternConfiguration(.smpte, size: ImageSize(width: 64, height: 48)))
        capturer.attach(Sink(record))
        record.wish.set(false)
        async let outcome = capturer.run()
        await wait { record.pictures > 3 }
        capturer.stop()
        _ = try await outcome
        #expect(record.packets == 0)
    }

    @Test("If its packet path fails, the sink gets pictures again", .timeLimit(.minutes(10)))
    func failure() async throws {
        let record = Record()
        let capturer = Capturer(Camera())
        capturer.attach(Sink(record, fails: true))
        record.wish.set(false)
        async let outcome = capturer.run()
        await wait { record.pictures > 3 }
        capturer.stop()
        _ = try await outcome
        #expect(record.packets == 1)
        #expect(record.wish.isWanted)
    }
}
