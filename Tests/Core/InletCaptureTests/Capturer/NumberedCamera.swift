import InletCapture
import InletCore
import InletDecode
import ReferenceTools
import Synchronization

/// A source of numbered packets, a hundred a second, with a key frame first in each group; its decoder makes a picture
/// of each packet.
struct NumberedCamera: PacketSourceConfiguration {
    /// A record of the events on all threads.
    final class Log: Sendable {
        /// The calls of the source, except those that yield packets.
        let calls = Mutex<[String]>([])
        let decoded = Atomic(0)
        /// Packets that the decoder received without the one before.
        let misses = Atomic(0)
        /// The number of the last packet that the source yielded.
        let newest = Atomic(0)

        func note(_ call: String) { calls.withLock { $0.append(call) } }
    }

    let log = Log()
    let redactedURI = "camera:"
    var count = Int.max
    var group = 50
    /// Whether packets state when they were received.
    var isTimed = false
    /// The packet that an endless interruption replaces; nil for none.
    var interruption: Int?
    var decoder: String?
    var decoders: [DecoderPlugin]
    var decoding: DecodingSettings { DecodingSettings(decoders, decoder: decoder) }

    /// - Parameter decodingTime: the time that each packet takes.
    init(decodingTime: Duration = .zero) {
        decoders = [DecoderPlugin("plain", summary: "") { [log] in Decoder(decodingTime, log) }]
    }

    func makePacketSource() -> any FrameSource { Source(self) }

    private static let parameters = CodecParameters(
        codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 100), profile: 66)

    private final class Source: FrameSource {
        private let camera: NumberedCamera
        private var next = 0
        private var begin: MonotonicTime?

        init(_ camera: NumberedCamera) { self.camera = camera }

        func open(_ context: SourceContext) throws -> SourceFormat {
            SourceFormat(packets: parameters, pacing: .live)
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            guard next < camera.count else { return nil }
            if next == camera.interruption {
                context.beginInterruption("nobody sends")
                if camera.log.decoded.load(ordering: .relaxed) < next {
                    camera.log.note("interruption before the end of decoding")
                }
                try context.sleep(until: context.clock.now + .seconds(3000))
            }
            let start = begin ?? context.clock.now
            begin = start
            try context.sleep(until: start + .milliseconds(10) * next)
            context.reportProgress()
            defer { next += 1 }
            camera.log.newest.store(next, ordering: .releasing)
            let time = MediaTime(ticks: Int64(next), timeBase: parameters.timeBase)
            var packet = SourcePacket(
                parameters: parameters, data: PacketData([1]), pts: time, dts: time,
                flags: next % camera.group == 0 ? .key : [])
            if camera.isTimed { packet.receiveTime = context.clock.now }
            return .packet(packet)
        }

        func pause(_ context: SourceContext) throws -> Bool {
            camera.log.note("pause")
            return true
        }

        func resume(_ context: SourceContext) throws { camera.log.note("resume") }

        func close() { camera.log.note("close") }
    }

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
            log.decoded.add(1, ordering: .relaxed)
            if time > .zero { _ = clock.wait(until: clock.now + time, wakeUpDescriptor: -1) }
            (expected, waiting) = (number + 1, packet)
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
}

/// A recorder of packets, which records their times.
struct TimesRecorder: PacketSinkConfiguration {
    let redactedURI = "packets:"
    let list = List()
    final class List: Sendable { let times = Mutex<[Int64]>([]) }

    func makeSink() -> any FrameSink { Nothing() }
    func makePacketSink() -> any PacketSink { Sink(list) }

    private final class Nothing: FrameSink {
        func consume(_ frame: VideoFrame) {}
    }

    private final class Sink: PacketSink {
        private let list: List

        init(_ list: List) { self.list = list }
        func start(_ parameters: CodecParameters) {}
        func write(_ packet: EncodedPacket) { list.times.withLock { $0.append(packet.pts.ticks) } }
        func finish() {}
    }
}
