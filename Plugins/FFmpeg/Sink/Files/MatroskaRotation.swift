import InletCore

/// Writes the rotation of a track into the header of a Matroska file (RFC 9559, 5.1.4.1.28.46 to 5.1.4.1.28.51).
/// libavformat before version 61 reads it but does not write it.
///
/// The header keeps its length: the rotation replaces the name of the track, which reserves the space.
struct MatroskaRotation {
    private let rotation: Rotation

    /// A track name with the length of its replacement.
    static let reservedName = String(repeating: " ", count: 32)

    private enum ID {
        static let tracks: UInt64 = 0x1654_AE6B
        static let checksum: UInt64 = 0xBF
        static let track: UInt64 = 0xAE
        static let name: UInt64 = 0x536E
        static let video: UInt64 = 0xE0
        static let void: UInt8 = 0xEC
    }

    init(_ rotation: Rotation) { self.rotation = rotation }

    /// Returns a piece of a file with the rotation added to its track. libavformat writes the header again at the end,
    /// in a piece that begins within the header. A piece that has no track with the reserved name is returned
    /// unchanged.
    func added(to bytes: [UInt8]) -> [UInt8] {
        let begin: [UInt8] = [0x16, 0x54, 0xAE, 0x6B]
        for place in 0..<min(bytes.count, Self.farthest) where bytes[place...].starts(with: begin) {
            guard let tracks = Self.elements(of: bytes, in: place..<bytes.count).first, tracks.id == ID.tracks,
                let track = Self.elements(of: bytes, in: tracks.content).first(where: { $0.id == ID.track }),
                let changed = changed(bytes, track)
            else { continue }
            var result = bytes
            result.replaceSubrange(track.content, with: changed)
            Self.sign(&result, tracks)
            return result
        }
        return bytes
    }

    /// The last position in a piece at which tracks can begin: the preceding elements are a few hundred bytes long.
    private static let farthest = 4096

    /// Recomputes the checksum of an element that has one.
    private static func sign(_ bytes: inout [UInt8], _ element: Element) {
        guard let checksum = elements(of: bytes, in: element.content).first, checksum.id == ID.checksum,
            checksum.content.count == 4
        else { return }
        let sum = Self.checksum(bytes[checksum.content.upperBound..<element.content.upperBound])
        for index in 0..<4 {
            bytes[checksum.content.lowerBound + index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index)))
        }
    }

    /// Returns the bytes of a track with the rotation instead of the name; nil if the track is of another kind or has
    /// no room.
    private func changed(_ bytes: [UInt8], _ track: Element) -> [UInt8]? {
        let elements = Self.elements(of: bytes, in: track.content)
        guard let name = elements.first(where: { $0.id == ID.name }),
            bytes[name.content].elementsEqual(Self.reservedName.utf8),
            let video = elements.first(where: { $0.id == ID.video })
        else { return nil }
        var result: [UInt8] = []
        for element in elements where element.id != ID.name {
            guard element.id == ID.video else {
                result += bytes[element.whole]
                continue
            }
            let content = bytes[video.content] + projection
            result += [UInt8(ID.video)] + Self.size(content.count) + content
        }
        let room = track.content.count - result.count
        // An empty element has two bytes, and the length of this one fits into one byte.
        guard (2...128).contains(room) else { return nil }
        return result + [ID.void, 0x80 | UInt8(room - 2)] + [UInt8](repeating: 0, count: room - 2)
    }

    /// A rectangular projection with a roll, in degrees counterclockwise.
    private var projection: [UInt8] {
        let roll = Float(rotation == .clockwise270 ? 90 : -rotation.rawValue).bitPattern
        let kind: [UInt8] = [0x76, 0x71, 0x81, 0]
        let pose: [UInt8] = [0x76, 0x75, 0x84] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: roll >> UInt32($0)) }
        return [0x76, 0x70, 0x80 | UInt8(kind.count + pose.count)] + kind + pose
    }

    // MARK: EBML (RFC 8794)

    private struct Element {
        var id: UInt64
        var whole: Range<Int>
        var content: Range<Int>
    }

    /// Returns the elements that begin in a range. The last one is cut off at the range's end if it is longer or of
    /// unknown length.
    private static func elements(of bytes: [UInt8], in range: Range<Int>) -> [Element] {
        var elements: [Element] = []
        var place = range.lowerBound
        while place < range.upperBound, let id = number(bytes, place, range.upperBound),
            let size = number(bytes, place + id.length, range.upperBound)
        {
            let start = place + id.length + size.length
            let mask = UInt64(1) << UInt64(7 * size.length) - 1
            let length = size.value & mask
            let end =
                length == mask || length > UInt64(range.upperBound - start)
                ? range.upperBound : start + Int(length)
            elements.append(Element(id: id.value, whole: place..<end, content: start..<end))
            place = end
        }
        return elements
    }

    /// Reads a variable-length number, including its marker bit.
    private static func number(_ bytes: [UInt8], _ place: Int, _ end: Int) -> (value: UInt64, length: Int)? {
        guard place < end else { return nil }
        let length = bytes[place].leadingZeroBitCount + 1
        guard length <= 8, place + length <= end else { return nil }
        return (bytes[place..<place + length].reduce(0) { $0 << 8 | UInt64($1) }, length)
    }

    /// Returns an element's length in two bytes, or in four if necessary.
    private static func size(_ count: Int) -> [UInt8] {
        count < 0x3FFF
            ? [0x40 | UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
            : [
                0x10 | UInt8(truncatingIfNeeded: count >> 24), UInt8(truncatingIfNeeded: count >> 16),
                UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count),
            ]
    }

    /// CRC-32 of IEEE 802.3, as in RFC 8794, 11.3.1.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xEDB8_8320 }
        }
        return ~sum
    }
}
