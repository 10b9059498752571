import InletCore
import InletDecode
import InletTesting
import Synchronization
import Testing

@testable import InletCapture

/// Live packets that are read on one thread and decoded on another, by a decoder that does not keep up.
@Suite(.timeLimit(.minutes(5))) struct LiveDecodingTests {
    private static let parameters = CodecParameters(
        codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 100), profile: 66)

    /// What happened, whatever thread it was on.
    private final class Log: Sendable {
        let calls = Mutex<[String]>([])
        /// Packets that the decoder got without the one before.
        let misses = Atomic(0)

        func note(_ call: String) { calls.withLock { $0.append(call) } }
    }

    /// Numbered packets, a hundred a second, with a key frame every fifty.
    private struct Camera: PacketSourceConfiguration {
        var count: Int
        let log = Log()

        let redactedURI = "camera:"
        var decoder: String?
        var decoders: [DecoderPlugin]
        var decoding: DecodingSettings { DecodingSettings(decoders, decoder: decoder) }

        init(count: Int, decodingTime: Duration) {
            self.count = count
            decoders = [DecoderPlugin("slow", summary: "") { [log] in Decoder(decodingTime, log) }]
        }

        func makePacketSource() -> any FrameSource { Source(count, log) }
    }

    private final class Source: FrameSource {
        private let count: Int
        private let log: Log
        private var next = 0
        private var begin: MonotonicTime?

        init(_ count: Int, _ log: Log) { (self.count, self.log) = (count, log) }

        func open(_ context: SourceContext) throws -> SourceFormat {
            var format = SourceFormat(
                size: parameters.size, pixelFormat: .yuv420p, timeBase: parameters.timeBase, pacing: .live)
            format.packetStream = PacketStream(parameters)
            return format
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            guard next < count else { return nil }
            let start = begin ?? context.clock.now
            begin = start
            try context.sleep(until: start + .milliseconds(10) * next)
            context.reportProgress()
            defer { next += 1 }
            let time = MediaTime(ticks: Int64(next), timeBase: parameters.timeBase)
            var packet = SourcePacket(
                parameters: parameters, data: PacketData([1]), pts: time, dts: time,
                flags: next % 50 == 0 ? .key : [])
            packet.receiveTime = context.clock.now
            return .packet(packet)
        }

        func pause(_ context: SourceContext) throws -> Bool {
            log.note("pause")
            return true
        }

        func resume(_ context: SourceContext) throws { log.note("resume") }

        func close() { log.note("close") }
    }

    /// A picture for each packet, after a while.
    private final class Decoder: VideoDecoder {
        private let time: Duration
        private let log: Log
        private let clock = SystemClock()
        private var expected: Int64?
        private var waiting: SourcePacket?
        private var isDrained = false
        var reorderDepth: Int { 0 }
        var skipsNonReferencePictures = false

        init(_ time: Duration, _ log: Log) { (self.time, self.log) = (time, log) }

        func open(_ parameters: CodecParameters, _ settings: DecoderSettings) throws {}

        func send(_ packet: SourcePacket) throws -> PacketFault? {
            let number = packet.pts?.ticks ?? -1
            if !packet.isKey, expected != number { log.misses.add(1, ordering: .relaxed) }
            expected = number + 1
            _ = clock.wait(until: clock.now + time, wakeUpDescriptor: -1)
            waiting = packet
            return nil
        }

        func receive() throws -> DecoderOutput {
            guard let packet = waiting else { return isDrained ? .ended : .needsPacket }
            waiting = nil
            let picture = try I420Draft(size: parameters.size).publish()
            return .picture(SourceFrame(picture, pts: packet.pts, sequence: 0, flags: packet.isKey ? .key : []))
        }

        func drain() { isDrained = true }
        func reset() { (waiting, isDrained, expected) = (nil, false, nil) }
    }

    /// Notes the PTS of what it gets.
    private final class Pictures: FrameSink {
        let times: Times
        final class Times: Sendable { let all = Mutex<[Int64]>([]) }

        init(_ times: Times) { self.times = times }
        func consume(_ frame: VideoFrame) { times.all.withLock { $0.append(frame.pts?.ticks ?? -1) } }
    }

    /// A recorder of packets.
    private struct Recorder: PacketSinkConfiguration {
        let redactedURI = "packets:"
        let count = Count()
        final class Count: Sendable { let packets = Atomic(0) }

        func makeSink() -> any FrameSink { Pictures(Pictures.Times()) }
        func makePacketSink() -> any PacketSink { Sink(count) }

        private final class Sink: PacketSink {
            let count: Count
            init(_ count: Count) { self.count = count }
            func start(_ parameters: CodecParameters) {}
            func write(_ packet: EncodedPacket) { count.packets.add(1, ordering: .relaxed) }
            func finish() {}
        }
    }

    @Test(
        "Of pictures that come too fast some are left out as late, none without what it refers to; a recorder gets every packet"
    )
    func late() async throws {
        let camera = Camera(count: 400, decodingTime: .milliseconds(25))
        let capturer = Capturer(camera)
        let (times, recorder) = (Pictures.Times(), Recorder())
        capturer.attach(Pictures(times), queue: .buffered(1000, dropping: .newest))
        capturer.attach(recorder)
        let events = capturer.events
        #expect(try await capturer.run() == .endOfStream)
        var lags: [Bool] = []
        for await case .lagging(let isLagging) in events { lags.append(isLagging) }
        let seen = times.all.withLock { $0 }
        let late = capturer.statistics.drops[.late] ?? 0
        #expect(lags.first == true)
        #expect(late > 0)
        #expect(UInt64(seen.count) + late == 400, "\(seen.count) shown, \(late) late")
        #expect(seen == seen.sorted() && Set(seen).count == seen.count)
        #expect(camera.log.misses.load(ordering: .relaxed) == 0)
        #expect(recorder.count.packets.load(ordering: .relaxed) == 400)
        #expect(camera.log.calls.withLock { $0 } == ["close"])
    }

    @Test("A sink for which the source waits gets every picture, however late")
    func lossless() async throws {
        let camera = Camera(count: 60, decodingTime: .milliseconds(25))
        let capturer = Capturer(camera)
        let times = Pictures.Times()
        capturer.attach(Pictures(times), queue: .lossless())
        #expect(try await capturer.run() == .endOfStream)
        #expect(times.all.withLock { $0 } == Array(0..<60))
        #expect(capturer.statistics.drops[.late] == nil)
    }

    @Test("A pause stops the reading, and it goes on afterwards; a stop in between closes the source")
    func pause() async throws {
        let camera = Camera(count: 1_000_000, decodingTime: .milliseconds(1))
        let capturer = Capturer(camera)
        let times = Pictures.Times()
        capturer.attach(Pictures(times))
        async let end = capturer.run()
        func pictures(_ count: Int) async throws {
            let before = times.all.withLock { $0.count }
            while times.all.withLock({ $0.count }) < before + count { try await Task.sleep(for: .milliseconds(5)) }
        }
        // The state tells at once; a pause that is taken back before the source stands still is none.
        func calls(_ count: Int) async throws {
            while camera.log.calls.withLock({ $0.count }) < count { try await Task.sleep(for: .milliseconds(5)) }
        }
        try await pictures(5)
        capturer.pause()
        try await calls(1)
        capturer.resume()
        try await calls(2)
        try await pictures(5)
        capturer.pause()
        try await calls(3)
        capturer.stop()
        #expect(try await end == .cancelled)
        #expect(camera.log.calls.withLock { $0 } == ["pause", "resume", "pause", "close"])
    }
}
