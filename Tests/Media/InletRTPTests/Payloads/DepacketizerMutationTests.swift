import InletCore
import InletRTP
import Testing

/// Packets that are changed at random: nothing crashes, and every limit holds.
@Suite struct DepacketizerMutationTests {
    static let formats: [RTPPayloadFormat] = [
        .h264, .h265(usesDONL: false), .h265(usesDONL: true), .jpeg, .av1, .vp8, .vp9, .mpeg4Visual, .transportStream,
    ]

    /// Well-formed payloads to begin with, for each format as far as available.
    private static func seeds(_ format: RTPPayloadFormat) -> [TestPacket] {
        switch format {
        case .h264: NALSender(aggregation: .parameterSets).packets(.h264)
        case .h265: NALSender(aggregation: .parameterSets, isHEVC: true).packets(.hevc)
        case .jpeg: JPEGDepacketizerTests.packets(type: 64, quality: 255, sizes: [700, 700, 100])
        case .av1:
            [TestPacket(payload: [0x18, 0x03, 0x0A, 1, 2, 0x30, 0x10, 3, 4, 5, 6, 7], timestamp: 0, hasMarker: true)]
        case .vp8:
            [TestPacket(payload: [0x90, 0xE0, 0x81, 1, 2, 3, 0x10, 1, 2, 3, 4, 5], timestamp: 0, hasMarker: true)]
        case .vp9:
            [
                TestPacket(
                    payload: [0xBE, 0x81, 1, 2, 3, 0x38, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x14, 1, 0x82, 0x49, 1, 2, 3],
                    timestamp: 0, hasMarker: true)
            ]
        case .transportStream:
            TransportStreamTests.stream().payloads(3) + TransportStreamTests.stream { $0.size = .none }.payloads(1)
                + StartCodeTests.stream(isMPEG4: true).payloads() + StartCodeTests.stream(isMPEG4: false).payloads()
        case .mpeg4Visual: [TestPacket(payload: [0, 0, 1, 0x20, 9, 0, 0, 1, 0xB6, 0x10, 1, 2], timestamp: 0)]
        }
    }

    private static func mutate(_ packet: inout TestPacket, _ random: inout SplitMix64) {
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let place = packet.payload.isEmpty ? 0 : Int.random(in: 0..<packet.payload.count, using: &random)
            switch Int.random(in: 0..<9, using: &random) {
            case 0 where !packet.payload.isEmpty: packet.payload[place] = UInt8.random(in: 0...255, using: &random)
            case 1 where !packet.payload.isEmpty:
                packet.payload[min(place, Int.random(in: 0...4, using: &random))] ^= 1 << UInt8(place & 7)
            case 2: packet.payload.removeLast(min(place, packet.payload.count))
            case 3: packet.payload.insert(contentsOf: [0, 0, 1], at: place)
            case 4: packet.payload += [UInt8](repeating: place & 1 == 0 ? 0 : 0xFF, count: place)
            case 5: packet.hasMarker.toggle()
            case 6: packet.timestamp = UInt32.random(in: 0...3, using: &random)
            case 7: packet.payload += packet.payload
            default: packet.payload = []
            }
            if packet.payload.count > 20_000 { packet.payload.removeLast(packet.payload.count - 20_000) }
        }
    }

    @Test("Changed packets neither crash it nor exceed its limits", arguments: formats)
    func bounds(format: RTPPayloadFormat) {
        let seeds = Self.seeds(format)
        var settings = DepacketizerSettings()
        settings.maximumSize = 30_000
        settings.maximumNALs = 50
        settings.poolSize = 1 << 20
        settings.poolUnits = 8
        for seed in 0..<40 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            settings.damage = seed & 1 == 0 ? .drop : .pass
            let joiner = Depacketizer(format, settings: settings)
            var held: [AccessUnit] = []
            var now = MonotonicTime(nanoseconds: 0)
            for _ in 0..<300 {
                var packet = seeds[Int.random(in: 0..<seeds.count, using: &random)]
                Self.mutate(&packet, &random)
                now = now + .milliseconds(Int.random(in: 0...10, using: &random))
                let lost = Int.random(in: 0..<8, using: &random) == 0 ? Int.random(in: 0...Int.max, using: &random) : 0
                held += joiner.receive(packet, lostBefore: lost, at: now, hasMore: random.next() & 1 == 0)
                joiner.tick(at: now)
                if random.next() & 63 == 0 { joiner.restart() }
                for unit in held {
                    #expect(unit.data.count > 0 && unit.data.count <= 30_000 + 64 * 1024)
                }
                #expect(joiner.memory <= settings.poolSize)
                #expect(held.count <= settings.poolUnits)
                if random.next() & 3 == 0 { held = [] }
            }
            joiner.end()
            _ = joiner.takeAll()
        }
    }

    @Test("Units of a changed stream are complete pictures again after the change", arguments: 0..<60)
    func recovers(seed: UInt64) {
        let clip = CodedClip.h264
        var random = SplitMix64(seed: seed)
        var packets = NALSender().packets(clip)
        for _ in 0..<5 {
            let place = packets.indices.filter { packets[$0].picture < 11 }.randomElement(using: &random) ?? 0
            let picture = packets[place].picture
            Self.mutate(&packets[place], &random)
            packets[place].timestamp = NALSender().start &+ UInt32(picture) &* 9000
        }
        let units = Depacketizer.of(clip).receiveAll(packets)
        // The second group of pictures was not touched.
        #expect(units.suffix(11).map(\.bytes) == clip.annexB.suffix(11).map(\.self))
    }

    @Test("A range beyond the packet is malformed")
    func inconsistentRange() {
        let joiner = Depacketizer(.h264)
        let bytes: [UInt8] = [0x65, 0x88]
        let header = RTPHeader(payloadType: 96, sequence: 0, timestamp: 0, ssrc: 0, payload: 0..<3)
        unsafe joiner.add(header, bytes.span.bytes, lostBefore: 0, at: MonotonicTime(nanoseconds: 0), hasMore: false)
        #expect(joiner.statistics.malformed == 1)
    }

    @Test("In the steady state no memory is allocated, and units outlive the depacketizer")
    func pooling() throws {
        let clip = CodedClip.h264
        let packets = NALSender().packets(clip)
        var joiner: Depacketizer? = .of(clip)
        for packet in packets { _ = joiner?.receive(packet) }
        let allocations = try #require(joiner?.allocations)
        for _ in 0..<20 { for packet in packets { _ = joiner?.receive(packet) } }
        #expect(joiner?.allocations == allocations)
        #expect(allocations < 5)
        let units = packets.prefix { $0.picture == 0 }.flatMap { joiner?.receive($0) ?? [] }
        joiner = nil
        #expect(units.map(\.bytes) == [clip.annexB[0]])
        let last = try #require(units.first)
        let (memory, _) = unsafe last.data.storage
        for index in 0..<64 {
            #expect(unsafe memory.baseAddress?.load(fromByteOffset: memory.count + index, as: UInt8.self) == 0)
        }
    }

    @Test("If no unit is released, new ones are dropped and counted, and the next counts as after a loss")
    func exhaustion() {
        let clip = CodedClip.h264
        var settings = DepacketizerSettings()
        settings.poolUnits = 2
        let joiner = Depacketizer.of(clip, settings)
        let packets = NALSender().packets(clip)
        var held: [AccessUnit] = []
        for packet in packets where packet.picture < 5 { held += joiner.receive(packet) }
        #expect(held.count == 2)
        #expect(joiner.statistics.noMemory == 3)
        held = []
        for packet in packets where packet.picture == 5 { held += joiner.receive(packet) }
        #expect(held.map(\.isAfterLoss) == [true])
    }
}
