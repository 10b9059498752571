import InletCore
import InletDecode
import InletTesting
import Synchronization
import Testing

@testable import InletCapture

/// A live source of packets whose pictures nobody has use for at times.
@Suite(.timeLimit(.minutes(5))) struct IdleDecodingTests {
    private static let parameters = CodecParameters(
        codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 100), profile: 66)

    /// What happened, whatever thread it was on.
    private final class Log: Sendable {
        let decoded = Atomic(0)
        /// Packets that the decoder got without the one before.
        let misses = Atomic(0)
        /// The number of the packet that the source has yielded last.
        let newest = Atomic(0)
    }

    /// Numbered packets, a hundred a second, with a key frame every fifty by default.
    private struct Camera: PacketSourceConfiguration {
        let log = Log()
        let redactedURI = "camera:"
        var group = 50
        var decoder: String?
        var decoders: [DecoderPlugin]
        var decoding: DecodingSettings { DecodingSettings(decoders, decoder: decoder) }

        init() { decoders = [DecoderPlugin("plain", summary: "") { [log] in Decoder(log) }] }

        func makePacketSource() -> any FrameSource { Source(log, group: group) }
    }

    private final class Source: FrameSource {
        private let log: Log
        private let group: Int
        private var next = 0
        private var begin: MonotonicTime?

        init(_ log: Log, group: Int) { (self.log, self.group) = (log, group) }

        func open(_ context: SourceContext) throws -> SourceFormat {
            var format = SourceFormat(
                size: parameters.size, pixelFormat: .yuv420p, timeBase: parameters.timeBase, pacing: .live)
            format.packetStream = PacketStream(parameters)
            return format
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            let start = begin ?? context.clock.now
            begin = start
            try context.sleep(until: start + .milliseconds(10) * next)
            context.reportProgress()
            defer { next += 1 }
            log.newest.store(next, ordering: .releasing)
            let time = MediaTime(ticks: Int64(next), timeBase: parameters.timeBase)
            return .packet(
                SourcePacket(
                    parameters: parameters, data: PacketData([1]), pts: time, dts: time,
                    flags: next % group == 0 ? .key : []))
        }

        func close() {}
    }

    /// A picture for each packet.
    private final class Decoder: VideoDecoder {
        private let log: Log
        private var expected: Int64?
        private var waiting: SourcePacket?
        var reorderDepth: Int { 0 }
        var skipsNonReferencePictures = false

        init(_ log: Log) { self.log = log }

        func open(_ parameters: CodecParameters, _ settings: DecoderSettings) throws {}

        func send(_ packet: SourcePacket) throws -> PacketFault? {
            let number = packet.pts?.ticks ?? -1
            if !packet.isKey, expected != number { log.misses.add(1, ordering: .relaxed) }
            log.decoded.add(1, ordering: .relaxed)
            (expected, waiting) = (number + 1, packet)
            return nil
        }

        func receive() throws -> DecoderOutput {
            guard let packet = waiting else { return .needsPacket }
            waiting = nil
            let picture = try I420Draft(size: parameters.size).publish()
            return .picture(SourceFrame(picture, pts: packet.pts, sequence: 0, flags: packet.isKey ? .key : []))
        }

        func drain() {}
        func reset() { (waiting, expected) = (nil, nil) }
    }

    /// Whether somebody watches, and what was seen.
    private final class Audience: Sendable {
        let isPresent = Atomic(false)
        let seen = Mutex<[Int64]>([])
        let context = Mutex(SinkContext?.none)

        func report(_ open: Int) {
            isPresent.store(open > 0, ordering: .relaxed)
            var sessions = SinkSessions()
            sessions.open = open
            context.withLock { $0 }?.report(sessions)
        }
    }

    private final class AudienceSink: FrameSink {
        private let audience: Audience
        var takesFrames: Bool { audience.isPresent.load(ordering: .relaxed) }

        init(_ audience: Audience) { self.audience = audience }
        func start(_ format: VideoFormat, _ context: SinkContext) { audience.context.withLock { $0 = context } }
        func consume(_ frame: VideoFrame) { audience.seen.withLock { $0.append(frame.pts?.ticks ?? -1) } }
    }

    /// A recorder of packets.
    private struct Recorder: PacketSinkConfiguration {
        let redactedURI = "packets:"
        let list = List()
        final class List: Sendable { let times = Mutex<[Int64]>([]) }

        func makeSink() -> any FrameSink { AudienceSink(Audience()) }
        func makePacketSink() -> any PacketSink { Sink(list) }

        private final class Sink: PacketSink {
            let list: List
            init(_ list: List) { self.list = list }
            func start(_ parameters: CodecParameters) {}
            func write(_ packet: EncodedPacket) { list.times.withLock { $0.append(packet.pts.ticks) } }
            func finish() {}
        }
    }

    private func wait(until isTrue: () -> Bool) async throws {
        while !isTrue() { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Waits until nothing is decoded while 60 packets go by, more than a group.
    private func waitForRest(_ log: Log) async throws {
        while true {
            let (decoded, newest) = (
                log.decoded.load(ordering: .relaxed), log.newest.load(ordering: .acquiring)
            )
            try await wait { log.newest.load(ordering: .acquiring) > newest + 60 }
            if log.decoded.load(ordering: .relaxed) == decoded { return }
        }
    }

    @Test(
        "Nothing is decoded while nobody watches; who comes sees the present, and a recorder gets every packet",
        arguments: [true, false], [true, false])
    func unwatched(isRecorded: Bool, reports: Bool) async throws {
        let (camera, audience, recorder) = (Camera(), Audience(), Recorder())
        let capturer = Capturer(camera)
        if isRecorded { capturer.attach(recorder) }
        capturer.attach(AudienceSink(audience))
        async let outcome = capturer.run()
        for _ in 0..<2 {
            try await waitForRest(camera.log)
            // The source is alive all the same.
            let captured = capturer.statistics.captured
            try await wait { capturer.statistics.captured > captured + 10 }
            #expect(capturer.statistics.phase == .live)
            audience.seen.withLock { $0 = [] }
            let newest = camera.log.newest.load(ordering: .acquiring)
            if reports { audience.report(1) } else { audience.isPresent.store(true, ordering: .relaxed) }
            try await wait { audience.seen.withLock { $0.count > 20 } }
            #expect(audience.seen.withLock { $0[0] } >= newest)
            if reports { audience.report(0) } else { audience.isPresent.store(false, ordering: .relaxed) }
        }
        capturer.stop()
        _ = try await outcome
        #expect(camera.log.misses.load(ordering: .relaxed) == 0)
        let times = recorder.list.times.withLock { $0 }
        // 900 ticks of 90 kHz are a hundredth of a second.
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 < 1350 && $1 > $0 })
        #expect(times.isEmpty != isRecorded)
    }

    @Test("A stream whose only key frame is long ago is decoded while nobody watches, and shown to who comes")
    func singleKeyFrame() async throws {
        var camera = Camera()
        camera.group = .max
        let (log, audience) = (camera.log, Audience())
        let capturer = Capturer(camera)
        capturer.attach(AudienceSink(audience))
        async let outcome = capturer.run()
        // As long as a stream with more key frames takes to rest, and longer.
        try await wait { log.newest.load(ordering: .acquiring) > 400 }
        let (first, captured) = (log.newest.load(ordering: .acquiring), capturer.statistics.captured)
        try await wait { log.newest.load(ordering: .acquiring) > first + 200 }
        let newest = log.newest.load(ordering: .acquiring)
        #expect(log.decoded.load(ordering: .relaxed) > 300)
        // Each picture counts once.
        #expect(capturer.statistics.captured - captured < newest - first + 20)
        audience.seen.withLock { $0 = [] }
        audience.report(1)
        try await wait { audience.seen.withLock { $0.count > 20 } }
        #expect(audience.seen.withLock { $0[0] } >= newest)
        capturer.stop()
        _ = try await outcome
        #expect(log.misses.load(ordering: .relaxed) == 0)
    }

    @Test("Nothing is decoded where no sink gets pictures, even if the last one stands in for others")
    func paused() async throws {
        let (camera, audience) = (Camera(), Audience())
        var configuration = CapturerConfiguration()
        configuration.outage.picture = .hold
        let capturer = Capturer(camera, configuration: configuration)
        audience.isPresent.store(true, ordering: .relaxed)
        capturer.attach(AudienceSink(audience))
        async let outcome = capturer.run()
        try await wait { camera.log.decoded.load(ordering: .relaxed) > 50 }
        var reduction = PictureReduction()
        reduction.isPaused = true
        capturer.reduce(to: reduction)
        try await waitForRest(camera.log)
        #expect(capturer.statistics.phase == .live)
        capturer.reduce(to: PictureReduction())
        audience.seen.withLock { $0 = [] }
        try await wait { audience.seen.withLock { $0.count > 50 } }
        capturer.stop()
        _ = try await outcome
        #expect(camera.log.misses.load(ordering: .relaxed) == 0)
    }

    @Test("A sink that is to get every picture, and the last picture that stands in for others, go on being decoded")
    func exceptions() async throws {
        for isLossless in [true, false] {
            let (camera, audience) = (Camera(), Audience())
            var configuration = CapturerConfiguration()
            if !isLossless { configuration.outage.picture = .hold }
            let capturer = Capturer(camera, configuration: configuration)
            capturer.attach(AudienceSink(audience), queue: isLossless ? .lossless() : nil)
            async let outcome = capturer.run()
            try await wait { camera.log.decoded.load(ordering: .relaxed) > 350 }
            capturer.stop()
            _ = try await outcome
        }
    }
}
