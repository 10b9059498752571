import InletCore
import InletRTP

/// A coded clip, cut into pictures by the sizes that ffprobe states and into NAL units by their start codes.
struct CodedClip: Sendable {
    /// The NAL units of each picture.
    var pictures: [[[UInt8]]]
    var isHEVC = false

    static let h264 = CodedClip(H264Clip.hexadecimal, H264Clip.sizes, isHEVC: false)
    static let hevc = CodedClip(HEVCClip.hexadecimal, HEVCClip.sizes, isHEVC: true)

    init(_ hexadecimal: String, _ sizes: [Int], isHEVC: Bool) {
        let digits = hexadecimal.utf8.compactMap(\.hexadecimalValue)
        let bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        var start = 0
        pictures = sizes.map { size in
            defer { start += size }
            return Self.units(Array(bytes[start..<start + size]))
        }
        self.isHEVC = isHEVC
    }

    init(pictures: [[[UInt8]]], isHEVC: Bool = false) {
        self.pictures = pictures
        self.isHEVC = isHEVC
    }

    static func units(_ bytes: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var index = 0
        while index < bytes.count {
            if bytes[index...].starts(with: [0, 0, 1]) {
                units.append([])
                index += 3
            } else {
                if !units.isEmpty { units[units.count - 1].append(bytes[index]) }
                index += 1
            }
        }
        // Zeros before a start code are not part of a unit.
        return units.map { unit in Array(unit[...(unit.lastIndex { $0 != 0 } ?? 0)]) }
    }

    /// Each picture in Annex B, with start codes of four bytes.
    var annexB: [[UInt8]] { pictures.map(Self.annexB) }

    static func annexB(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

    func type(_ unit: [UInt8]) -> Int { isHEVC ? Int(unit[0] >> 1) & 0x3F : Int(unit[0] & 0x1F) }

    func isSlice(_ unit: [UInt8]) -> Bool { isHEVC ? type(unit) < 32 : (1...5).contains(type(unit)) }
}

/// A packet of a test, without its header's bytes.
struct TestPacket: Sendable {
    var payload: [UInt8]
    var timestamp: UInt32
    var hasMarker = false
    /// The picture it belongs to.
    var picture = 0

    func header(_ sequence: Int = 0) -> RTPHeader {
        RTPHeader(
            hasMarker: hasMarker, payloadType: 96, sequence: UInt16(truncatingIfNeeded: sequence), timestamp: timestamp,
            ssrc: 1, payload: 0..<payload.count)
    }
}

/// Packs NAL units by RFC 6184 and RFC 7798, and in the wrong ways of some cameras.
struct NALSender: Sendable {
    enum Marker: Sendable { case honest, never, everySlice, everyPacket, alsoParameterSets }
    enum Aggregation: Sendable { case none, parameterSets, annexB }
    var mtu = 100
    var marker = Marker.honest
    var aggregation = Aggregation.none
    /// Whether parameter sets have the timestamp of the picture before.
    var hasOldParameterTimes = false
    var hasShortStartCodes = false
    var dropsEndBits = false
    /// Whether small NAL units are sent as one fragment with both bits.
    var sendsWholeFragments = false
    var lastFragmentType: UInt8?
    var hasEmptyFragments = false
    var isHEVC = false
    var interval: UInt32 = 9000
    var start: UInt32 = 0xFFFF_F000

    func packets(_ clip: CodedClip) -> [TestPacket] {
        var packets: [TestPacket] = []
        for (index, picture) in clip.pictures.enumerated() {
            let time = start &+ UInt32(index) &* interval
            let oldTime = index == 0 ? time : time &- interval
            let first = packets.count
            let sets = picture.prefix { !clip.isSlice($0) }
            var rest = picture[...]
            switch aggregation {
            case .annexB:
                let code: [UInt8] = hasShortStartCodes ? [0, 0, 1] : [0, 0, 0, 1]
                let bytes = Array(picture.flatMap { code + $0 }.dropFirst(code.count))
                packets += fragments(bytes, time, index)
                rest = []
            case .parameterSets where !sets.isEmpty:
                let header: [UInt8] = isHEVC ? [48 << 1, 1] : [0x78]
                let payload = header + sets.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 255)] + $0 }
                packets.append(TestPacket(payload: payload, timestamp: time, picture: index))
                rest = picture.dropFirst(sets.count)
            default: break
            }
            for unit in rest {
                let isSlice = clip.isSlice(unit)
                let unitTime = hasOldParameterTimes && !isSlice ? oldTime : time
                packets +=
                    unit.count <= mtu && !sendsWholeFragments
                    ? [TestPacket(payload: unit, timestamp: unitTime, picture: index)]
                    : fragments(unit, unitTime, index)
                packets[packets.count - 1].hasMarker =
                    marker == .everySlice && isSlice || marker == .alsoParameterSets && !isSlice
            }
            if marker != .never { packets[packets.count - 1].hasMarker = true }
            if marker == .everyPacket { for place in first..<packets.count { packets[place].hasMarker = true } }
        }
        return packets
    }

    func fragments(_ unit: [UInt8], _ time: UInt32, _ picture: Int) -> [TestPacket] {
        let headerSize = isHEVC ? 2 : 1
        let type = isHEVC ? unit[0] >> 1 & 0x3F : unit[0] & 0x1F
        let content = Array(unit.dropFirst(headerSize))
        var pieces = stride(from: 0, to: content.count, by: mtu).map {
            Array(content[$0..<min($0 + mtu, content.count)])
        }
        if hasEmptyFragments { pieces = [[]] + pieces.flatMap { [$0, []] } }
        return pieces.enumerated().map { index, piece in
            let isLast = index == pieces.count - 1
            var flags: UInt8 = index == 0 ? 0x80 : 0
            if isLast, !dropsEndBits { flags |= 0x40 }
            let stated = index > 0 ? lastFragmentType ?? type : type
            let header: [UInt8] =
                isHEVC
                ? [unit[0] & 0x81 | 49 << 1, unit[1], flags | stated] : [unit[0] & 0xE0 | 28, flags | stated]
            return TestPacket(payload: header + piece, timestamp: time, picture: picture)
        }
    }
}

extension Depacketizer {
    /// Reads a packet, and returns the units that are finished.
    func receive(
        _ packet: TestPacket, lostBefore: Int = 0, at time: MonotonicTime = MonotonicTime(nanoseconds: 0),
        hasMore: Bool = false
    ) -> [AccessUnit] {
        unsafe add(
            packet.header(), packet.payload.span.bytes, lostBefore: lostBefore, at: time, hasMore: hasMore)
        return takeAll()
    }

    func takeAll() -> [AccessUnit] {
        var units: [AccessUnit] = []
        while let unit = takeUnit() { units.append(unit) }
        return units
    }

    /// Reads packets, all of which but the last are followed by more if `isBuffered`, and ends.
    func receiveAll(_ packets: [TestPacket], isBuffered: Bool = false) -> [AccessUnit] {
        var units: [AccessUnit] = []
        for (index, packet) in packets.enumerated() {
            units += receive(packet, hasMore: isBuffered && index < packets.count - 1)
        }
        end()
        return units + takeAll()
    }

    /// A depacketizer of H.264 that ends the first picture with its marker, too.
    static func trusting(_ change: (inout DepacketizerSettings) -> Void = { _ in }) -> Depacketizer {
        var settings = DepacketizerSettings()
        settings.doubtsFirstMarker = false
        change(&settings)
        return Depacketizer(.h264, settings: settings)
    }

    static func of(_ clip: CodedClip, _ settings: DepacketizerSettings = .init()) -> Depacketizer {
        Depacketizer(clip.isHEVC ? .h265(usesDONL: false) : .h264, settings: settings)
    }
}

extension AccessUnit {
    var bytes: [UInt8] {
        unsafe data.bytes.withUnsafeBytes { unsafe Array($0) }
    }
}
