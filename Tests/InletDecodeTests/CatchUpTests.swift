import InletCore
import InletTesting
import Logging
import Synchronization
import Testing

@testable import InletDecode

/// Decoding that stops while nobody takes pictures, and goes on between two key frames.
@Suite struct CatchUpTests {
    private static let parameters = CodecParameters(
        codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 100), profile: 66)

    /// What the decoder got.
    private final class Log: Sendable {
        let decoded = Mutex<[Int64]>([])
        /// Packets that the decoder got without the one before.
        let misses = Atomic(0)
    }

    /// Numbered packets, the first of each group a key frame.
    private final class Source: FrameSource {
        private let group: Int
        private let size: Int
        private var next = 0

        init(group: Int, size: Int) { (self.group, self.size) = (group, size) }

        func open(_ context: SourceContext) throws -> SourceFormat {
            var format = SourceFormat(
                size: parameters.size, pixelFormat: .yuv420p, timeBase: parameters.timeBase, pacing: .live)
            format.packetStream = PacketStream(parameters)
            return format
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            defer { next += 1 }
            // As a source does that may ask its camera for a key frame.
            _ = context.keyFrameRequests
            let time = MediaTime(ticks: Int64(next), timeBase: parameters.timeBase)
            return .packet(
                SourcePacket(
                    parameters: parameters, data: PacketData([UInt8](repeating: 1, count: size)), pts: time, dts: time,
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
            log.decoded.withLock { $0.append(number) }
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

    private final class Run {
        let log = Log()
        let context = SourceContext(clock: ManualClock(), logger: Logger(label: "test"))
        private let source: DecodingSource

        init(group: Int, size: Int = 1) throws {
            let log = log
            source = DecodingSource(
                Source(group: group, size: size),
                DecodingSettings([DecoderPlugin("plain", summary: "") { Decoder(log) }]))
            demand(pictures: true)
            _ = try source.open(context)
        }

        func demand(pictures: Bool) {
            var demand = SourceDemand.everything
            (demand.packets, demand.pictures) = (true, pictures)
            context.setDemand(demand)
        }

        func next() throws -> SourceItem? { try source.next(context) }

        /// Returns the numbers of the next packets, and of the pictures among them.
        func read(packets count: Int) throws -> (packets: [Int64], pictures: [Int64]) {
            var (packets, pictures): ([Int64], [Int64]) = ([], [])
            while packets.count < count {
                switch try source.next(context) {
                case .packet(let packet): packets.append(packet.pts?.ticks ?? -1)
                case .frame(let frame): pictures.append(frame.pts?.ticks ?? -1)
                case nil: return (packets, pictures)
                }
            }
            return (packets, pictures)
        }
    }

    @Test("Pictures come again with the newest packet, decoded with everything that it refers to; no packet is lost")
    func between() throws {
        // It stops in a group and goes on in the same one, or in a later one.
        for pause in [5, 20, 47, 80] {
            let run = try Run(group: 50)
            let before = try run.read(packets: 11)
            #expect(before.packets == Array(0...10) && before.pictures == Array(0...10))
            run.demand(pictures: false)
            let meanwhile = try run.read(packets: pause)
            #expect(meanwhile.packets == Array(11..<Int64(11 + pause)))
            #expect(run.log.decoded.withLock { $0 } == Array(0...10), "nothing is decoded")
            run.demand(pictures: true)
            let after = try run.read(packets: 6)
            let first = Int64(11 + pause)
            #expect(after.packets == Array(first..<first + 6))
            #expect(after.pictures == Array(first..<first + 6), "\(pause)")
            #expect(run.log.misses.load(ordering: .relaxed) == 0)
            // No more than what the newest refers to.
            let group = first / 50 * 50
            let decoded = run.log.decoded.withLock { Array($0.dropFirst(11)) }
            #expect(decoded == Array((group == 0 ? 11 : group)..<first + 6))
            #expect(run.context.dropCounts == [:])
            #expect(run.context.keyFrameRequests == 0)
        }
    }

    @Test("Where the group is too long or too large to be kept, a key frame is requested and awaited")
    func tooMuch() throws {
        for (group, size) in [(PassedGroup.mostPackets * 2, 1), (50, PassedGroup.mostBytes / 20)] {
            let run = try Run(group: group, size: size)
            _ = try run.read(packets: 3)
            run.demand(pictures: false)
            // Into the second group, beyond what is kept of it.
            _ = try run.read(packets: group + group * 3 / 4)
            run.demand(pictures: true)
            let after = try run.read(packets: group)
            #expect(after.pictures.first.map { Int($0) % group } == 0)
            #expect(run.log.misses.load(ordering: .relaxed) == 0)
            #expect(run.context.keyFrameRequests == 1)
        }
    }

    @Test("Pictures are decoded until the first packet can be passed on, where packets are wanted in their place")
    func change() throws {
        let run = try Run(group: 50)
        run.context.setDemand(.everything)
        var demand = SourceDemand.everything
        var pictures = 0
        for turn in 0..<60 {
            if turn == 20 {
                (demand.packets, demand.pictures) = (true, false)
                run.context.setDemand(demand)
            }
            if case .frame = try run.next() { pictures += 1 }
        }
        #expect(pictures == 50)
    }
}
