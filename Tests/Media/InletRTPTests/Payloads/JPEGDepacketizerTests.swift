import InletCore
import InletRTP
import Testing

/// RFC 2435, and ONVIF's header extension.
@Suite struct JPEGDepacketizerTests {
    private static let tables = (0..<128).map { UInt8($0 + 1) }

    /// Packets of one picture whose scan consists of counting bytes.
    static func packets(
        type: UInt8 = 1, quality: UInt8, sizes: [Int], hasTables: Bool = true, countsHeaders: Bool = false,
        timestamp: UInt32 = 0
    ) -> [TestPacket] {
        var offset = 0
        return sizes.enumerated().map { index, size in
            var payload: [UInt8] = [0, UInt8(offset >> 16), UInt8(offset >> 8 & 255), UInt8(offset & 255)]
            payload += [type, quality, 40, 30]
            if type >= 64 { payload += [0, 7, 0xFF, 0xFF] }
            let headerSize = payload.count
            if quality >= 128, index == 0 { payload += hasTables ? [0, 0, 0, 128] + tables : [0, 0, 0, 0] }
            payload += [UInt8](repeating: UInt8(index + 1), count: size)
            offset += size + (countsHeaders ? headerSize : 0)
            return TestPacket(payload: payload, timestamp: timestamp, hasMarker: index == sizes.count - 1)
        }
    }

    /// The segments of a file up to the scan, and the rest.
    private static func parse(_ bytes: [UInt8]) -> (segments: [UInt8: [[UInt8]]], scan: [UInt8])? {
        guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
        var segments: [UInt8: [[UInt8]]] = [:]
        var index = 2
        while index + 4 <= bytes.count, bytes[index] == 0xFF {
            let size = Int(bytes[index + 2]) << 8 | Int(bytes[index + 3])
            guard index + 2 + size <= bytes.count else { return nil }
            segments[bytes[index + 1], default: []].append(Array(bytes[index + 4..<index + 2 + size]))
            let marker = bytes[index + 1]
            index += 2 + size
            if marker == 0xDA { return (segments, Array(bytes[index...])) }
        }
        return nil
    }

    private static func scan(_ sizes: [Int]) -> [UInt8] {
        sizes.enumerated().flatMap { [UInt8](repeating: UInt8($0 + 1), count: $1) } + [0xFF, 0xD9]
    }

    struct Case: Sendable {
        var type: UInt8
        var sampling: UInt8
        var countsHeaders = false
    }

    @Test(
        "A picture with its own tables becomes a file",
        arguments: [
            Case(type: 0, sampling: 0x21), Case(type: 1, sampling: 0x22), Case(type: 64, sampling: 0x21),
            Case(type: 65, sampling: 0x22), Case(type: 64, sampling: 0x21, countsHeaders: true),
        ])
    func file(_ sent: Case) throws {
        let sizes = [300, 300, 20]
        let packets = Self.packets(type: sent.type, quality: 255, sizes: sizes, countsHeaders: sent.countsHeaders)
        let units = Depacketizer(.jpeg).receiveAll(packets)
        let unit = try #require(units.first)
        #expect(units.count == 1 && unit.isKey)
        let (segments, scan) = try #require(Self.parse(unit.bytes))
        #expect(scan == Self.scan(sizes))
        #expect(segments[0xDB] == [[0] + Self.tables[..<64], [1] + Self.tables[64...]])
        #expect(segments[0xC0] == [[8, 0, 240, 1, 64, 3, 1, sent.sampling, 0, 2, 0x11, 1, 3, 0x11, 1]])
        #expect(segments[0xC4]?.count == 4)
        #expect(segments[0xDD] == (sent.type >= 64 ? [[0, 7]] : nil))
    }

    /// Section 3.1.1.
    @Test("A field that is to be shown in all rows has pixels twice as high, and the fields of a frame one file each")
    func fields() throws {
        func field(_ content: UInt8, _ timestamp: UInt32) -> [TestPacket] {
            Self.packets(quality: 60, sizes: [10], timestamp: timestamp).map {
                var packet = $0
                packet.payload[0] = content
                return packet
            }
        }
        let doubled = try #require(Depacketizer(.jpeg).receiveAll(field(3, 0)).first)
        let density = try #require(Self.parse(doubled.bytes)?.segments[0xE0]?.first)
        #expect(density == [0x4A, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 2, 0, 0])
        let joiner = Depacketizer(.jpeg)
        let units = joiner.receiveAll(field(1, 0) + field(2, 1) + field(1, 2) + field(1, 4) + field(2, 5) + field(2, 7))
        #expect(units.map(\.timestamp) == [0, 4])
        // The odd field without its other half, and the even one.
        #expect(joiner.statistics.droppedUnits == 2)
        // The bottom rows, then the top ones.
        let bytes = try #require(units.first).bytes
        let polarities = bytes.indices.dropLast(9).filter { bytes[$0...].starts(with: [0x41, 0x56, 0x49, 0x31]) }
            .map { bytes[$0 + 4] }
        #expect(polarities == [2, 1])
    }

    /// Quality 50 leaves the tables of the JPEG specification unchanged: RFC 2435, appendix A. 1 makes them 255.
    @Test("A quality below 100 scales the standard's tables", arguments: [(50, 16, 17), (25, 32, 34), (1, 255, 255)])
    func quality(_ quality: UInt8, _ luminance: UInt8, _ chrominance: UInt8) throws {
        let unit = try #require(Depacketizer(.jpeg).receiveAll(Self.packets(quality: quality, sizes: [10])).first)
        let segments = try #require(Self.parse(unit.bytes)).segments
        #expect(segments[0xDB]?.map { $0[1] } == [luminance, chrominance])
    }

    @Test("Tables of a quality from 128 to 254 are kept, and those of 255 are not")
    func keptTables() throws {
        let joiner = Depacketizer(.jpeg)
        let first = joiner.receiveAll(Self.packets(quality: 200, sizes: [10]))
        let second = joiner.receiveAll(Self.packets(quality: 200, sizes: [10], hasTables: false, timestamp: 1))
        #expect(first.map(\.bytes) == second.map(\.bytes))
        #expect(joiner.receiveAll(Self.packets(quality: 201, sizes: [10], hasTables: false, timestamp: 2)).isEmpty)
        #expect(joiner.receiveAll(Self.packets(quality: 255, sizes: [10], hasTables: false, timestamp: 3)).isEmpty)
    }

    @Test("A picture with a lost packet is dropped, and the next is not affected", arguments: 0..<3)
    func loss(_ lost: Int) {
        var packets = Self.packets(quality: 60, sizes: [100, 100, 100])
        packets += Self.packets(quality: 60, sizes: [100, 100, 100], timestamp: 1)
        let joiner = Depacketizer(.jpeg)
        let units = NALLossTests.receive(packets, without: [lost], joiner)
        #expect(units.map(\.timestamp) == [1])
        #expect(units.allSatisfy { !$0.isAfterLoss })
        #expect(joiner.statistics.lostNonReference > 0)
    }

    @Test("A stated size replaces fields that cannot hold it")
    func statedSize() throws {
        var settings = DepacketizerSettings()
        // 320 and 240 are the fields; 2368 is 320 and 2048.
        settings.jpegSize = ImageSize(width: 2368, height: 240)
        let unit = try #require(
            Depacketizer(.jpeg, settings: settings).receiveAll(Self.packets(quality: 60, sizes: [10])).first)
        let segments = try #require(Self.parse(unit.bytes)).segments
        #expect(segments[0xC0]?.first?.prefix(5) == [8, 0, 240, 9, 64])
    }

    /// ONVIF Streaming Specification, section 5.1.3: the first packet's extension FFD8 holds segments.
    @Test("Segments of ONVIF's extension replace those of the payload header")
    func onvif() throws {
        let frame: [UInt8] = [8, 0x08, 0x70, 0x0F, 0x00, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]
        let segments = [0xFF, 0xC0, 0, 17] + frame + [0xFF]
        let packet = Self.packets(quality: 255, sizes: [50])[0]
        let bytes: [UInt8] = [0x90, 0x9A, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0xD8, 0, 5] + segments + packet.payload
        let header = try #require(unsafe RTPHeader(bytes.span.bytes))
        let joiner = Depacketizer(.jpeg)
        unsafe joiner.add(header, bytes.span.bytes, lostBefore: 0, at: MonotonicTime(nanoseconds: 0), hasMore: false)
        let unit = try #require(joiner.takeUnit())
        var parts = unit.bytes
        // The fill byte after the segments, which a reader skips.
        let fill = try #require(parts.indices.dropLast(2).first { parts[$0...].starts(with: [0xFF, 0xFF, 0xDA]) })
        parts.remove(at: fill)
        let parsed = try #require(Self.parse(parts))
        #expect(parsed.segments[0xC0] == [frame])
        #expect(parsed.scan == Self.scan([50]))
    }

    /// A packet with a header extension.
    private static func packet(
        _ profile: UInt16, _ segments: [UInt8], _ payload: [UInt8], timestamp: UInt8, hasMarker: Bool = true
    ) -> [UInt8] {
        // Fill bytes precede a marker, and may pad.
        let padding = [UInt8](repeating: 0xFF, count: (4 - segments.count % 4) % 4)
        let words = UInt8((segments.count + padding.count) / 4)
        var bytes: [UInt8] = [0x90, hasMarker ? 0x9A : 0x1A, 0, 0, 0, 0, 0, timestamp, 0, 0, 0, 1]
        bytes += [UInt8(profile >> 8), UInt8(profile & 0xFF), 0, words]
        return bytes + padding + segments + payload
    }

    private static func add(_ bytes: [UInt8], to joiner: Depacketizer) throws -> AccessUnit? {
        let header = try #require(unsafe RTPHeader(bytes.span.bytes))
        unsafe joiner.add(header, bytes.span.bytes, lostBefore: 0, at: MonotonicTime(nanoseconds: 0), hasMore: false)
        return joiner.takeUnit()
    }

    private static let frame: [UInt8] =
        [0xFF, 0xC0, 0, 17, 8, 0x08, 0x70, 0x0F, 0x00, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]
    private static let quantizers: [UInt8] =
        [0xFF, 0xDB, 0, 132, 0] as [UInt8] + Array(tables[..<64]) + [1] + Array(tables[64...])
    private static let huffman: [UInt8] =
        [0xFF, 0xC4, 0, 20, 0] as [UInt8] + [UInt8](repeating: 0, count: 16) + [0]

    /// The payload of a picture, with the width and the height in units of eight.
    private static func payload(quality: UInt8, width: UInt8, height: UInt8) -> [UInt8] {
        [0, 0, 0, 0, 1, quality, width, height] + [UInt8](repeating: 7, count: 20)
    }

    struct Header: Sendable {
        var segments: [UInt8]
        var quality: UInt8
        var width: UInt8
        var isWhole: Bool
    }

    /// ONVIF Streaming Specification, section "Logical decoding specification".
    @Test(
        "A header that requests a copy from the picture before is dropped and counted, and a complete one is not",
        arguments: [
            Header(segments: frame + quantizers, quality: 0, width: 0, isWhole: true),
            Header(segments: frame, quality: 60, width: 0, isWhole: true),
            Header(segments: frame, quality: 0, width: 0, isWhole: false),
            Header(segments: quantizers, quality: 0, width: 0, isWhole: false),
            Header(segments: quantizers, quality: 0, width: 40, isWhole: true),
            Header(segments: [], quality: 60, width: 0, isWhole: false),
        ])
    func copiesPrevious(_ sent: Header) throws {
        let joiner = Depacketizer(.jpeg)
        // A complete picture with other tables, none of which may be reused.
        let first = Self.payload(quality: 90, width: 40, height: 30)
        #expect(try Self.add(Self.packet(0xFFD8, Self.frame, first, timestamp: 0), to: joiner) != nil)
        let payload = Self.payload(quality: sent.quality, width: sent.width, height: sent.width)
        let unit = try Self.add(Self.packet(0xFFD8, sent.segments, payload, timestamp: 9), to: joiner)
        #expect((unit != nil) == sent.isWhole)
        #expect(joiner.statistics.incompleteHeaders == (sent.isWhole ? 0 : 1))
        if let unit, sent.quality == 0 {
            // The tables are those of the extension, and no others.
            let bytes = unit.bytes
            #expect(bytes.indices.dropLast().count { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDB } == 1)
        }
    }

    @Test("A picture without Huffman tables, after one that had its own, is dropped")
    func inheritsHuffmanTables() throws {
        let joiner = Depacketizer(.jpeg)
        let payload = Self.payload(quality: 60, width: 0, height: 0)
        let own = Self.frame + Self.huffman
        for (timestamp, segments) in [own, Self.frame, own].enumerated() {
            let bytes = Self.packet(0xFFD8, segments, payload, timestamp: UInt8(timestamp))
            #expect((try Self.add(bytes, to: joiner) != nil) == (timestamp != 1))
        }
        #expect(joiner.statistics.incompleteHeaders == 1)
    }

    @Test("The part of an extension after the first part of the scan belongs there")
    func extensionWithinScan() throws {
        let joiner = Depacketizer(.jpeg)
        let payload = Self.payload(quality: 60, width: 0, height: 0)
        let first = Self.packet(0xFFD8, Self.frame, payload, timestamp: 0, hasMarker: false)
        #expect(try Self.add(first, to: joiner) == nil)
        // Only the first packet's extension is marked with the picture's beginning.
        var rest = payload
        rest[3] = 20
        let segment: [UInt8] = [0xFF, 0xFE, 0, 6, 1, 2, 3, 4]
        let unit = try #require(try Self.add(Self.packet(0xFFFF, segment, rest, timestamp: 0), to: joiner))
        let scan = [UInt8](repeating: 7, count: 20)
        let expected: [UInt8] = scan + segment + scan + [0xFF, 0xD9]
        #expect(Array(unit.bytes.suffix(50)) == expected)
    }
}
