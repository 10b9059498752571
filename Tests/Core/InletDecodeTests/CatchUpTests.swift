import InletCore
import InletTesting
import Logging
import ReferenceTools
import Synchronization
import Testing

@testable import InletDecode

/// Decoding that stops while no sink takes pictures, and resumes between two key frames.
@Suite struct CatchUpTests {
    private static let parameters = CodecParameters(
        codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 100), profile: 66)

    /// A record of the decoder's input.
    private final class Log: Sendable {
        let decoded = Mutex<[Int64]>([])
        /// Packets that the decoder received without the one before.
        let misses = Atomic(0)
        /// Packets whose memory is held.
        let held = Atomic(0)
    }

    /// The memory of a packet.
    private final class Memory: Sendable {
        private let log: Log
        private let size: Int

        init(size: Int, _ log: Log) {
            (self.log, self.size) = (log, size)
            log.held.add(1, ordering: .relaxed)
        }

        deinit { log.held.subtract(1, ordering: .relaxed) }

        /// All packets have the same bytes.
        private static let bytes = PacketData([UInt8](repeating: 0, count: PassedGroup.mostBytes))

        var data: PacketData {
            unsafe PacketData(UnsafeRawBufferPointer(rebasing: Self.bytes.storage.memory[..<size]), owner: self)
        }
    }

    /// Numbered packets, the first of each group a key frame.
    private final class Source: FrameSource {
        private let group: Int
        private let size: Int
        private var next = 0
        private let log: Log

        init(group: Int, size: Int, _ log: Log) { (self.group, self.size, self.log) = (group, size, log) }

        func open(_ context: SourceContext) throws -> SourceFormat {
            SourceFormat(packets: parameters, pacing: .live)
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            defer { next += 1 }
            // Like a source that may request a key frame from its camera.
            _ = context.keyFrameRequests
            let time = MediaTime(ticks: Int64(next), timeBase: parameters.timeBase)
            return .packet(
                SourcePacket(
                    parameters: parameters, data: Memory(size: size, log).data, pts: time, dts: time,
                    flags: next % group == 0 ? .key : []))
        }

        func close() {}
    }

    /// A picture for each packet.
    private final class Decoder: VideoDecoder {
        private let log: Log
        private var expected: Int64?
        private var waiting: SourcePacket?
        private var isDraining = false
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
            guard let packet = waiting else { return isDraining ? .ended : .needsPacket }
            waiting = nil
            let picture = try I420Draft(size: parameters.size).publish()
            return .picture(SourceFrame(picture, pts: packet.pts, sequence: 0, flags: packet.isKey ? .key : []))
        }

        func drain() { isDraining = true }
        func reset() { (waiting, expected, isDraining) = (nil, nil, false) }
    }

    private final class Run {
        let log = Log()
        let context = SourceContext(clock: ManualClock(), logger: Logger(label: "test"))
        private let source: DecodingSource

        init(group: Int, size: Int = 1) throws {
            let log = log
            source = DecodingSource(
                Source(group: group, size: size, log),
                DecodingSettings([DecoderPlugin("plain", summary: "") { Decoder(log) }]))
            demand(pictures: true)
            _ = try source.open(context)
        }

        /// - Parameter idle: whether there are sinks of pictures when there is no demand for pictures.
        func demand(pictures: Bool, idle: Bool = true, keyFramesOnly: Bool = false) {
            var demand = SourceDemand.everything
            (demand.packets, demand.pictures) = (true, pictures)
            (demand.hasIdleSinks, demand.keyFramesOnly) = (!pictures && idle, keyFramesOnly)
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

    @Test("Pictures resume with the newest packet, decoded with everything that it refers to; no packet is lost")
    func between() throws {
        // Decoding stops in a group and resumes in the same one, or in a later one.
        for pause in [5, 20, 47, 80] {
            let run = try Run(group: 50)
            // One whole group and the beginning of another: the stream is known to have short ones.
            let before = try run.read(packets: 61)
            #expect(before.packets == Array(0...60) && before.pictures == Array(0...60))
            run.demand(pictures: false)
            let meanwhile = try run.read(packets: pause)
            #expect(meanwhile.packets == Array(61..<Int64(61 + pause)))
            #expect(run.log.decoded.withLock { $0 } == Array(0...60), "nothing is decoded")
            run.demand(pictures: true)
            let after = try run.read(packets: 6)
            let first = Int64(61 + pause)
            #expect(after.packets == Array(first..<first + 6))
            #expect(after.pictures == Array(first..<first + 6), "\(pause)")
            #expect(run.log.misses.load(ordering: .relaxed) == 0)
            // Only the packets to which the newest refers.
            let group = first / 50 * 50
            let decoded = run.log.decoded.withLock { Array($0.dropFirst(61)) }
            #expect(decoded == Array((group == 50 ? 61 : group)..<first + 6))
            #expect(run.context.dropCounts == [:])
            #expect(run.context.keyFrameRequests == 0)
            _ = try run.read(packets: 100)
            #expect(run.log.held.load(ordering: .relaxed) < 5, "nothing is kept longer than necessary")
        }
    }

    /// Groups that are not kept completely: too long, too large, and a stream with a single key frame.
    private static let longGroups = [
        (PassedGroup.mostPackets * 2, 1), (50, PassedGroup.mostBytes / 20), (1_000_000, 1),
    ]

    @Test(
        "A stream with groups too long or too large to be kept is decoded while its sinks are idle, too",
        arguments: longGroups)
    func longGroup(group: Int, size: Int) throws {
        let run = try Run(group: group, size: size)
        _ = try run.read(packets: 3)
        for _ in 0..<2 {
            run.demand(pictures: false)
            let rest = min(group, PassedGroup.mostPackets * 2)
            let meanwhile = try run.read(packets: 10 + rest + rest * 3 / 4)
            #expect(meanwhile.pictures == meanwhile.packets)
            run.demand(pictures: true)
            let after = try run.read(packets: 20)
            #expect(after.pictures == after.packets)
        }
        #expect(run.log.misses.load(ordering: .relaxed) == 0)
        #expect(run.context.keyFrameRequests == 0)
        // A recorder without pictures causes no decoding.
        run.demand(pictures: false, idle: false)
        #expect(try run.read(packets: PassedGroup.mostPackets * 3).pictures == [])
    }

    @Test("If only key frames are wanted, only the last one is decoded for a new sink, and then the next")
    func keyFramesOnly() throws {
        let run = try Run(group: 50)
        _ = try run.read(packets: 61)
        for turn in 0..<3 as Range<Int64> {
            run.demand(pictures: false, keyFramesOnly: true)
            // Into the middle of the next group.
            _ = try run.read(packets: turn == 0 ? 60 : 50)
            let before = run.log.decoded.withLock { $0.count }
            run.demand(pictures: true, keyFramesOnly: true)
            let after = try run.read(packets: 50)
            let key = turn * 100 + 100
            #expect(after.pictures == [key, key + 50])
            #expect(run.log.decoded.withLock { Array($0.dropFirst(before)) } == [key, key + 50])
        }
        run.demand(pictures: true)
        #expect(try run.read(packets: 50).pictures == Array(400...420))
        #expect(run.log.misses.load(ordering: .relaxed) == 0)
    }

    @Test("When a sink of pictures joins a recording with long groups, a key frame is requested and awaited")
    func recordedOnly() throws {
        for (group, size) in Self.longGroups.dropLast() {
            let run = try Run(group: group, size: size)
            _ = try run.read(packets: 3)
            run.demand(pictures: false, idle: false)
            // Into the second group, beyond the kept part of it.
            _ = try run.read(packets: group + group * 3 / 4)
            run.demand(pictures: true)
            let after = try run.read(packets: group)
            #expect(after.pictures.first.map { Int($0) % group } == 0)
            #expect(run.log.misses.load(ordering: .relaxed) == 0)
            #expect(run.context.keyFrameRequests == 1)
        }
    }

    @Test("Pictures are decoded until the first packet can be passed on, if packets are wanted instead")
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
