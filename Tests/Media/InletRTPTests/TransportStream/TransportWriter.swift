import InletCore
import InletRTP

/// Makes the packets of a transport stream by ISO/IEC 13818-1, also in the unusual ways of some senders.
struct TransportWriter {
    /// The part of its size that a PES packet states.
    enum Size: Sendable { case none, right, wrapped }
    var size = Size.right
    /// Whether each slice has a separate PES packet.
    var hasPESPerSlice = false
    /// The interval at which packets within PES packets are stuffed, too, if any.
    var stuffing = 0
    /// Whether PES packets begin with the last bytes of the picture before.
    var isUnaligned = false
    /// Whether each picture begins with an access unit delimiter.
    var hasDelimiter = true
    var streamType: UInt8 = 0x1B
    var videoPID = 0x100
    var mapPID = 0x1000
    var interval: UInt64 = 9000
    /// The presentation time of the first picture.
    var start: UInt64 = 0x1_FFFF_F000
    var isScrambled = false
    private(set) var counters: [Int: Int] = [:]
    private(set) var packets: [[UInt8]] = []
    /// The picture of each packet; nil for tables and the like.
    private(set) var pictures: [Int?] = []

    // MARK: Packets

    /// Appends a packet with as much of the content as fits, and returns the rest.
    mutating func append(
        pid: Int, startsUnit: Bool, _ content: ArraySlice<UInt8>, isShort: Bool = false,
        hasDiscontinuity: Bool = false, picture: Int? = nil
    ) -> ArraySlice<UInt8> {
        let counter = ((counters[pid] ?? 15) + 1) & 15
        counters[pid] = counter
        let flags: [UInt8] = hasDiscontinuity ? [1, 0x80] : []
        let room = isShort ? 100 : 184 - flags.count
        let payload = content.prefix(room)
        var field = flags
        let missing = 184 - payload.count - field.count
        if missing == 1, field.isEmpty {
            field = [0]
        } else if missing > 0 {
            if field.isEmpty { field = [0, 0] }
            field += [UInt8](repeating: 0xFF, count: 184 - payload.count - field.count)
            field[0] = UInt8(field.count - 1)
        }
        let control: UInt8 = (field.isEmpty ? 0x10 : 0x30) | (isScrambled && pid == videoPID ? 0x80 : 0)
        packets.append(
            [0x47, (startsUnit ? 0x40 : 0) | UInt8(pid >> 8), UInt8(pid & 255), control | UInt8(counter)] + field
                + payload)
        pictures.append(picture)
        return content.dropFirst(payload.count)
    }

    /// Appends packets without relevant content.
    mutating func appendOthers(_ count: Int, pid: Int = 0x200) {
        for _ in 0..<count { _ = append(pid: pid, startsUnit: false, [UInt8](repeating: 7, count: 184)[...]) }
    }

    /// Changes a packet.
    mutating func change(_ index: Int, _ body: (inout [UInt8]) -> Void) { body(&packets[index]) }

    /// Appends a packet again.
    mutating func appendAgain(_ index: Int) {
        packets.append(packets[index])
        pictures.append(pictures[index])
    }

    // MARK: Tables

    /// The CRC of annex A, bit by bit.
    static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            for bit in stride(from: 7, through: 0, by: -1) {
                let top = value >> 31 ^ UInt32(byte >> UInt8(bit)) & 1
                value <<= 1
                if top == 1 { value ^= 0x04C1_1DB7 }
            }
        }
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    static func section(table: UInt8, number: Int, version: UInt8, _ body: [UInt8]) -> [UInt8] {
        let size = body.count + 9
        let head =
            [table, 0xB0 | UInt8(size >> 8), UInt8(size & 255), UInt8(number >> 8), UInt8(number & 255)]
            + [0xC1 | version << 1, 0, 0]
        return head + body + checksum(head + body)
    }

    mutating func appendSection(pid: Int, _ section: [UInt8]) {
        var rest = ([0] + section)[...]
        var isFirst = true
        while !rest.isEmpty {
            // Sections are stuffed after their end, not in an adaptation field.
            let piece = rest.prefix(184) + [UInt8](repeating: 0xFF, count: max(0, 184 - rest.count))
            _ = append(pid: pid, startsUnit: isFirst, ArraySlice(Array(piece)))
            rest = rest.dropFirst(184)
            isFirst = false
        }
    }

    /// Appends the list of programs and their map.
    ///
    /// - Parameters:
    ///   - programs: programs in the list before the one with the video.
    ///   - descriptors: bytes of descriptors in the map.
    mutating func appendTables(
        version: UInt8 = 0, programs: [Int] = [], descriptors: Int = 0, streams: [(UInt8, Int)]? = nil
    ) {
        let list = programs.map { ($0, 0x1F00 + $0) } + [(77, mapPID)]
        appendSection(
            pid: 0,
            Self.section(
                table: 0, number: 1, version: version,
                list.flatMap { [UInt8($0 >> 8), UInt8($0 & 255), 0xE0 | UInt8($1 >> 8), UInt8($1 & 255)] }))
        let streams = streams ?? [(0x0F, 0x200), (streamType, videoPID)]
        let body =
            [
                0xE0 | UInt8(videoPID >> 8), UInt8(videoPID & 255), 0xF0 | UInt8(descriptors >> 8),
                UInt8(descriptors & 255),
            ]
            + [UInt8](repeating: 0x55, count: descriptors)
            + streams.flatMap { [$0, 0xE0 | UInt8($1 >> 8), UInt8($1 & 255), 0xF0, 0] }
        appendSection(pid: mapPID, Self.section(table: 2, number: 77, version: version, body))
    }

    // MARK: Pictures

    static func header(time: UInt64?, size: Int) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 1, 0xE0, UInt8(size >> 8 & 255), UInt8(size & 255), 0x80]
        guard let time else { return bytes + [0, 0] }
        bytes += [0x80, 5, 0x21 | UInt8(time >> 29 & 0x0E), UInt8(time >> 22 & 255), UInt8(time >> 14 & 0xFE) | 1]
        return bytes + [UInt8(time >> 7 & 255), UInt8(time << 1 & 0xFE) | 1]
    }

    func time(of picture: Int) -> UInt64 { (start + UInt64(picture) * interval) & 0x1_FFFF_FFFF }

    mutating func appendPES(_ content: [UInt8], time: UInt64?, picture: Int, hasDiscontinuity: Bool = false) {
        let inner = content.count + (time == nil ? 3 : 8)
        let stated =
            switch size {
            case .none: 0
            case .right: inner > 0xFFFF ? 0 : inner
            // Like many senders with 16 bits.
            case .wrapped: inner & 0x3F
            }
        var rest = (Self.header(time: time, size: stated) + content)[...]
        var count = 0
        while !rest.isEmpty {
            let isShort = stuffing > 0 && count % stuffing == stuffing - 1
            rest = append(
                pid: videoPID, startsUnit: count == 0, rest, isShort: isShort,
                hasDiscontinuity: hasDiscontinuity && count == 0, picture: picture)
            count += 1
        }
    }

    /// The bytes of a picture in the stream: with start codes, and a delimiter in front.
    func bytes(_ clip: CodedClip, _ units: [[UInt8]]) -> [UInt8] {
        let delimiter: [UInt8] = clip.isHEVC ? [35 << 1, 1, 0x50] : [9, 0xF0]
        return CodedClip.annexB((hasDelimiter ? [delimiter] : []) + units)
    }

    mutating func append(_ clip: CodedClip, from first: Int = 0) {
        var carried: [UInt8] = []
        for (index, units) in clip.pictures.enumerated() {
            let (time, picture) = (time(of: first + index), first + index)
            if hasPESPerSlice {
                let slices = units.count { clip.isSlice($0) }
                let start = units.count - slices
                appendPES(bytes(clip, Array(units[...start])), time: time, picture: picture)
                for unit in units[(start + 1)...] {
                    appendPES(CodedClip.annexB([unit]), time: nil, picture: picture)
                }
            } else if isUnaligned {
                let bytes = bytes(clip, units)
                appendPES(carried + bytes.dropLast(10), time: time, picture: picture)
                carried = bytes.suffix(10)
            } else {
                appendPES(bytes(clip, units), time: time, picture: picture)
            }
        }
        if !carried.isEmpty { appendPES(carried, time: nil, picture: clip.pictures.count - 1) }
    }

    // MARK: Payloads

    /// The payloads of RTP packets, each with some packets.
    func payloads(_ count: Int = 7) -> [TestPacket] {
        stride(from: 0, to: packets.count, by: count).map { start in
            let end = min(start + count, packets.count)
            return TestPacket(
                payload: Array(packets[start..<end].joined()), timestamp: UInt32(start),
                picture: pictures[start..<end].compactMap(\.self).last ?? 0)
        }
    }

    /// The packets cut without regard to their boundaries.
    func pieces(_ size: (Int) -> Int) -> [TestPacket] {
        let bytes = Array(packets.joined())
        var (pieces, start): ([TestPacket], Int) = ([], 0)
        while start < bytes.count {
            let end = min(start + max(1, size(pieces.count)), bytes.count)
            pieces.append(TestPacket(payload: Array(bytes[start..<end]), timestamp: 0))
            start = end
        }
        return pieces
    }
}
