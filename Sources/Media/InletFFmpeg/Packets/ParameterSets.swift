package import InletCore

// Unsafe: joins pieces of packets in memory.
/// The parameter sets of an H.264 or HEVC stream, as its parameters state them, and the form of its packets.
///
/// A viewer may join some streams at any key frame. The sets must then precede each key frame.
@safe package struct ParameterSets: Sendable, Hashable {
    /// The number of bytes of the length before each NAL unit of a packet; nil if start codes separate the units.
    package let lengthSize: Int?
    private let isHEVC: Bool
    /// The sets without start codes or lengths, none of them twice.
    private var sets: [[UInt8]]

    /// - Returns: nil if the codec has no parameter sets, or if the parameters state none that can be read.
    package init?(_ parameters: CodecParameters) {
        guard [.h264, .hevc].contains(parameters.codec) else { return nil }
        isHEVC = parameters.codec == .hevc
        let bytes = parameters.extraData
        if bytes.first == 1 {
            guard let record = isHEVC ? Self.hevcRecord(bytes) : Self.h264Record(bytes) else { return nil }
            (lengthSize, sets) = (record.lengthSize, record.sets)
        } else {
            (lengthSize, sets) = (nil, [])
            sets = Self.found(in: bytes.span, units(of: bytes.span), isHEVC)
        }
        if sets.isEmpty { return nil }
    }

    /// The sets, each after a start code of four bytes.
    package var byteStream: [UInt8] { sets.flatMap { [0, 0, 0, 1] + $0 } }

    /// Returns the sets that hold from a key frame on; nil if the frame states none that differ, and for packets with
    /// lengths, whose sets are stated outside them.
    package func changed(by keyFrame: PacketData) -> ParameterSets? {
        guard lengthSize == nil else { return nil }
        let bytes = keyFrame.bytes
        let found = Self.found(in: bytes, units(of: bytes), isHEVC)
        guard found.contains(where: { !sets.contains($0) }) else { return nil }
        // A frame need not repeat sets of every kind.
        let kinds = Set(found.map(kind))
        var changed = self
        changed.sets = (found + sets.filter { !kinds.contains(kind($0)) }).sorted { order($0) < order($1) }
        return changed
    }

    /// Returns these sets and those of a packet, which replace sets with the same identifier; nil if the packet states
    /// none that differ, and for packets with lengths, whose sets are stated outside them.
    package func extended(by packet: PacketData) -> ParameterSets? {
        guard lengthSize == nil else { return nil }
        let bytes = packet.bytes
        let found = Self.found(in: bytes, units(of: bytes), isHEVC)
        guard found.contains(where: { !sets.contains($0) }) else { return nil }
        let identities = Set(found.map(identity))
        let all = found + sets.filter { !identities.contains(identity($0)) }
        guard all.count <= Self.mostSets, all.reduce(0, { $0 + $1.count }) <= Self.mostBytes else { return nil }
        var extended = self
        extended.sets = all.sorted { order($0) < order($1) }
        return extended
    }

    private struct Identity: Hashable {
        var kind: Kind
        var number: Int
    }

    /// The kind and the identifier of a set: H.264, 7.3.2.1.1 and 7.3.2.2; H.265, 7.3.2.1 and 7.3.2.3.1. Sequence
    /// parameter sets of H.265 count as one, because their identifier follows a structure of variable length.
    private func identity(_ set: [UInt8]) -> Identity {
        let kind = kind(set)
        let place =
            switch kind {
            case .sequence: isHEVC ? nil : 4
            case .picture: isHEVC ? 2 : 1
            default: nil as Int?
            }
        return Identity(kind: kind, number: place.map { Self.exponentialGolomb(set.dropFirst($0)) } ?? 0)
    }

    /// Returns the first number in Exp-Golomb code, below 256: H.264, 9.1.
    private static func exponentialGolomb(_ bytes: ArraySlice<UInt8>) -> Int {
        let bits = bytes.prefix(3).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (4 - min(3, bytes.count)))
        let zeros = bits.leadingZeroBitCount
        guard zeros <= 8 else { return 0 }
        return Int(bits >> UInt32(31 - 2 * zeros)) - 1
    }

    /// Whether a file that begins with these sets may continue with others: of the same profile, and of no higher
    /// level.
    package func permits(_ others: ParameterSets) -> Bool {
        guard isHEVC == others.isHEVC, lengthSize == others.lengthSize, let own = needs, let other = others.needs else {
            return false
        }
        return own.profile == other.profile && other.level <= own.level
    }

    /// The profile and the level that a decoder must support: H.264, 7.3.2.1.1; H.265, 7.3.2.2.1 and 7.3.3.
    private var needs: (profile: UInt8, level: UInt8)? {
        guard let set = sets.first(where: { kind($0) == .sequence }) else { return nil }
        var bytes: [UInt8] = []
        for byte in set.prefix(32) {
            // The bytes that prevent start codes do not count: H.264, 7.3.1.
            if byte == 3, bytes.suffix(2) == [0, 0] { continue }
            bytes.append(byte)
        }
        guard bytes.count > 14 || !isHEVC && bytes.count > 3 else { return nil }
        return isHEVC ? (bytes[3], bytes[14]) : (bytes[1], bytes[3])
    }

    /// The most sets: 32 sequence and 256 picture parameter sets (H.264, 7.4.2), and 16 video parameter sets.
    private static let mostSets = 304
    /// The most bytes of sets. Real ones have some hundred.
    private static let mostBytes = 65_536

    /// Adds a set, unless it is empty or there already.
    ///
    /// - Returns: false if there are more sets than any stream needs.
    private static func add(_ set: [UInt8], to sets: inout [[UInt8]]) -> Bool {
        guard !set.isEmpty, !sets.contains(set) else { return true }
        guard sets.count < mostSets, sets.reduce(set.count, { $0 + $1.count }) <= mostBytes else { return false }
        sets.append(set)
        return true
    }

    // MARK: Records

    /// Reads an `avcC` record: ISO/IEC 14496-15, 5.3.3.1.2.
    private static func h264Record(_ bytes: [UInt8]) -> (lengthSize: Int, sets: [[UInt8]])? {
        guard bytes.count > 6 else { return nil }
        var reader = RecordReader(bytes: bytes[5...])
        var sets: [[UInt8]] = []
        for mask: UInt8 in [0x1F, 0xFF] {
            guard let count = reader.byte() else { return nil }
            for _ in 0..<(count & mask) {
                guard let set = reader.unit() else { return nil }
                guard add(set, to: &sets) else { return nil }
            }
        }
        return (Int(bytes[4] & 3) + 1, sets)
    }

    /// Reads an `hvcC` record: ISO/IEC 14496-15, 8.3.3.1.2. Its messages are omitted.
    private static func hevcRecord(_ bytes: [UInt8]) -> (lengthSize: Int, sets: [[UInt8]])? {
        guard bytes.count > 22 else { return nil }
        var reader = RecordReader(bytes: bytes[22...])
        var sets: [[UInt8]] = []
        guard let arrays = reader.byte() else { return nil }
        for _ in 0..<arrays {
            guard let type = reader.byte(), let high = reader.byte(), let low = reader.byte() else { return nil }
            for _ in 0..<(Int(high) << 8 | Int(low)) {
                guard let set = reader.unit() else { return nil }
                guard !(32...34).contains(type & 0x3F) || add(set, to: &sets) else { return nil }
            }
        }
        return (Int(bytes[21] & 3) + 1, sets)
    }

    private struct RecordReader {
        var bytes: ArraySlice<UInt8>

        mutating func byte() -> UInt8? { bytes.popFirst() }

        /// Returns a unit, whose length of 16 bits precedes it.
        mutating func unit() -> [UInt8]? {
            guard let high = byte(), let low = byte() else { return nil }
            let count = Int(high) << 8 | Int(low)
            guard count <= bytes.count else { return nil }
            defer { bytes = bytes.dropFirst(count) }
            return Array(bytes.prefix(count))
        }
    }

    // MARK: Units

    private enum Kind: Int { case delimiter, video, sequence, picture, slice, other }

    /// A NAL unit of a packet.
    private struct Unit {
        /// The place of its start code or length.
        var start: Int
        var header: Int
        var end: Int
        var kind: Kind
    }

    /// The kind of a unit by the first byte of its header: H.264 table 7-1, H.265 table 7-1.
    private static func kind(_ header: UInt8, _ isHEVC: Bool) -> Kind {
        switch (isHEVC, isHEVC ? header >> 1 & 0x3F : header & 0x1F) {
        case (false, 9), (true, 35): .delimiter
        case (true, 32): .video
        case (false, 7), (true, 33): .sequence
        case (false, 8), (true, 34): .picture
        case (false, 1...5), (true, 0...31): .slice
        default: .other
        }
    }

    private func kind(_ set: [UInt8]) -> Kind { Self.kind(set.first ?? 0, isHEVC) }

    /// A decoder needs the sets in this order.
    private func order(_ set: [UInt8]) -> Int { kind(set).rawValue }

    /// Returns the units of a packet up to its first slice, whose end is that of the packet, or all of them.
    private func units(of packet: Span<UInt8>, all: Bool = false) -> [Unit] {
        var units: [Unit] = []
        var position = 0
        while let unit = nextUnit(in: packet, from: position) {
            if lengthSize == nil, !units.isEmpty { units[units.count - 1].end = unit.start }
            units.append(unit)
            if unit.kind == .slice, !all { break }
            position = lengthSize == nil ? unit.header : unit.end
        }
        return units
    }

    /// Returns the next unit. With start codes, its end is that of the packet.
    private func nextUnit(in packet: Span<UInt8>, from position: Int) -> Unit? {
        if let lengthSize {
            let header = position + lengthSize
            guard header < packet.count else { return nil }
            let length = (position..<header).reduce(0) { $0 << 8 | Int(packet[$1]) }
            // A unit that is longer than the packet ends with it.
            let end = header + min(length, packet.count - header)
            let kind = length > 0 ? Self.kind(packet[header], isHEVC) : .other
            return Unit(start: position, header: header, end: end, kind: kind)
        }
        var index = position
        while index + 3 < packet.count {
            guard packet[index] == 0, packet[index + 1] == 0, packet[index + 2] == 1 else {
                index += 1
                continue
            }
            let start = index > position && packet[index - 1] == 0 ? index - 1 : index
            return Unit(
                start: start, header: index + 3, end: packet.count, kind: Self.kind(packet[index + 3], isHEVC))
        }
        return nil
    }

    /// Returns the parameter sets among units, none of them twice.
    private static func found(in packet: Span<UInt8>, _ units: [Unit], _ isHEVC: Bool) -> [[UInt8]] {
        var sets: [[UInt8]] = []
        for unit in units where [.video, .sequence, .picture].contains(unit.kind) {
            var end = unit.end
            // Zeros may follow a unit: H.264, B.1.
            while end > unit.header, packet[end - 1] == 0 { end -= 1 }
            let set = (unit.header..<end).map { packet[$0] }
            guard add(set, to: &sets) else { return [] }
        }
        return sets
    }

    // MARK: Packets

    /// Returns a key frame's data with the parameter sets in front, after a delimiter, which nothing may precede;
    /// unchanged if it has some already.
    package func added(to data: PacketData) -> PacketData { added(to: data, units(of: data.bytes)) }

    private func added(to data: PacketData, _ units: [Unit]) -> PacketData {
        guard !units.contains(where: { $0.kind == .sequence }) else { return data }
        // Zeros may precede the first unit, and libavformat wants a start code at the beginning of a packet.
        let place = units.first?.kind == .delimiter ? (units.count > 1 ? units[1].start : units[0].end) : 0
        let memory = unsafe data.storage.memory
        let added = sets.flatMap { prefix($0.count) + $0 }
        return unsafe added.withUnsafeBytes { bytes in
            unsafe PacketData(copying: [
                UnsafeRawBufferPointer(rebasing: memory[..<place]), bytes,
                UnsafeRawBufferPointer(rebasing: memory[place...]),
            ])
        }
    }

    /// Returns a packet's data with start codes, and with the parameter sets as ``added(to:)`` puts them if it is a key
    /// frame. A unit that is longer than the packet ends with it.
    package func byteStream(of data: PacketData, isKey: Bool) -> PacketData {
        guard let lengthSize else { return isKey ? added(to: data) : data }
        let (packet, units) = (data.bytes, units(of: data.bytes, all: true))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            packet.count + units.count * max(0, 4 - lengthSize) + sets.reduce(0) { $0 + $1.count + 4 })
        var needsSets = isKey && !units.contains { $0.kind == .sequence }
        for unit in units where unit.end > unit.header {
            if needsSets, unit.kind != .delimiter {
                bytes += byteStream
                needsSets = false
            }
            bytes += [0, 0, 0, 1]
            unsafe bytes.append(contentsOf: data.storage.memory[unit.header..<unit.end])
        }
        return PacketData(bytes)
    }

    /// Returns the start code, or the length of a unit as it precedes the unit.
    private func prefix(_ count: Int) -> [UInt8] {
        guard let lengthSize else { return [0, 0, 0, 1] }
        return (0..<lengthSize).map { UInt8(truncatingIfNeeded: count >> (8 * (lengthSize - 1 - $0))) }
    }
}

extension CodecParameters {
    /// Whether packets with these parameters may follow those with others in one file, with the parameter sets in the
    /// packets: only the sets differ, and the file permits them.
    package func continues(_ beginning: CodecParameters) -> Bool {
        guard let sets = ParameterSets(self), ParameterSets(beginning)?.permits(sets) == true else { return false }
        var same = self
        same.extraData = beginning.extraData
        (same.profile, same.level) = (beginning.profile, beginning.level)
        (same.bitrate, same.frameRate) = (beginning.bitrate, beginning.frameRate)
        return same == beginning
    }
}

/// The names of MP4 sample entries: ISO/IEC 14496-15, 5.4.2.1 and 8.4.1.
package enum SampleEntry {
    /// Returns the place of the first sample entry's name in the beginning of a file, and the name to put there if
    /// samples may have parameter sets; nil if the name needs no change.
    package static func change(in bytes: some RandomAccessCollection<UInt8>) -> (offset: Int, name: [UInt8])? {
        let box = Array("stsd".utf8)
        var rest = bytes[...]
        while let start = rest.firstIndex(of: box[0]) {
            rest = rest[start...]
            guard rest.count >= 20 else { return nil }
            guard rest.starts(with: box) else {
                rest = rest.dropFirst()
                continue
            }
            // The version and flags, the number of entries, and the size of the first.
            let name = Array(rest.dropFirst(16).prefix(4))
            let offset = bytes.distance(from: bytes.startIndex, to: start) + 16
            switch String(decoding: name, as: UTF8.self) {
            case "avc1": return (offset, Array("avc3".utf8))
            case "hvc1": return (offset, Array("hev1".utf8))
            default: return nil
            }
        }
        return nil
    }
}
