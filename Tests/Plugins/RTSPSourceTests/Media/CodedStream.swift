import Foundation
import InletCore
import InletRTP
import ReferenceTools
import Testing

/// A clip that ffmpeg encoded, in RTP packets by RFC 6184, RFC 7798 or RFC 2250, and ffmpeg's decoding of it.
struct CodedStream: Sendable {
    let isHEVC: Bool
    let format: RTPPayloadFormat
    /// The RTP packets, in order.
    let packets: [[UInt8]]
    /// The number of packets of the first picture.
    let firstPicture: Int
    /// The MD5 of each picture, by its time in ticks of 90 kHz since the first access unit's.
    let sums: [Int64: String]

    private static let mtu = 1200

    /// - Parameters:
    ///   - encoder: `libx264` or `libx265`.
    ///   - options: the encoder's options.
    init(_ encoder: String, _ options: [String], pictures: Int, size: String = "320x240", in folder: TemporaryFolder)
        throws
    {
        isHEVC = encoder == "libx265"
        format = isHEVC ? .h265(usesDONL: false) : .h264
        let path = folder.path("clip.nut")
        try ReferenceCommand.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25,noise=alls=12:allf=t", "-frames:v", "\(pictures)",
                "-pix_fmt", "yuv420p", "-c:v", encoder,
            ] + options + ["-bsf:v", "dump_extra", "-enc_time_base", "1:90000", path])
        // The muxer writes bare access units; the codec's own format has them without times.
        let raw = folder.path("clip.raw")
        try ReferenceCommand.ffmpeg(["-i", path, "-c", "copy", "-f", isHEVC ? "hevc" : "h264", raw])
        let listing = try ReferenceCommand.run(
            "ffprobe", ["-v", "error", "-show_entries", "packet=pts_time,size", "-of", "csv=p=0", path])
        let units = try String(decoding: listing, as: UTF8.self).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: ",")
            guard fields.count >= 2 else { return nil as (ticks: Int64, size: Int)? }
            return (Int64((try #require(Double(fields[0])) * 90_000).rounded()), try #require(Int(fields[1])))
        }
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
        let first = units[0].ticks
        var packets: [[UInt8]] = []
        var start = 0
        for unit in units {
            let nals = Self.nals(Array(bytes[start..<start + unit.size]))
            start += unit.size
            for (index, nal) in nals.enumerated() {
                packets += Self.packets(
                    nal, isHEVC: isHEVC, timestamp: UInt32(truncatingIfNeeded: unit.ticks - first + 1_000_000),
                    isLast: index == nals.count - 1, sequence: packets.count)
            }
        }
        self.packets = packets
        firstPicture = packets.prefix { $0[4..<8] == packets[0][4..<8] }.count
        sums = try Self.sums(of: path, first: first)
    }

    /// Muxes the pictures into an MPEG transport stream, with seven of its packets in the payload of each RTP packet.
    ///
    /// - Parameters:
    ///   - encoder: `libx264` or `libx265`.
    ///   - options: the encoder's options.
    init(transportStream encoder: String, _ options: [String], pictures: Int, in folder: TemporaryFolder) throws {
        isHEVC = encoder == "libx265"
        format = .transportStream
        let path = folder.path("clip.ts")
        try ReferenceCommand.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25,noise=alls=12:allf=t", "-frames:v", "\(pictures)",
                "-pix_fmt", "yuv420p", "-c:v", encoder,
            ] + options + ["-f", "mpegts", path])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var (packets, starts, firstPicture): ([[UInt8]], Int, Int) = ([], 0, 0)
        for (number, place) in stride(from: 0, to: bytes.count, by: 7 * 188).enumerated() {
            let payload = bytes[place..<min(place + 7 * 188, bytes.count)]
            // The beginnings of PES packets of ffmpeg's first video (ISO/IEC 13818-1, section 2.4.3.2).
            for packet in stride(from: place, to: payload.endIndex, by: 188)
            where bytes[packet + 1] == 0x41 && bytes[packet + 2] == 0 {
                starts += 1
                if starts == 2 { firstPicture = number + 1 }
            }
            let header: [UInt8] = [0x80, 33, UInt8(number >> 8 & 255), UInt8(number & 255), 0, 0, 0, 0, 1, 2, 3, 4]
            packets.append(header + payload)
        }
        self.packets = packets
        self.firstPicture = firstPicture
        sums = try Self.sums(of: path, first: nil)
    }

    /// Returns ffmpeg's decoding, by the time since the first access unit.
    ///
    /// - Parameter first: the time of the first access unit; nil for the time of the first picture.
    private static func sums(of path: String, first: Int64?) throws -> [Int64: String] {
        let lines = try FrameLines.ffmpeg(path)
        let base = (lines.timeBase ?? "1/90000").split(separator: "/").compactMap { Int64($0) }
        let times = try lines.lines.map { try #require(Int64($0.pts)) * base[0] * 90_000 / base[1] }
        let origin = try first ?? #require(times.first)
        return Dictionary(zip(times.map { $0 - origin }, lines.lines.map(\.md5)), uniquingKeysWith: { $1 })
    }

    private static func nals(_ bytes: [UInt8]) -> [[UInt8]] {
        var starts: [Int] = []
        for index in bytes.indices.dropLast(3) where bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1
        {
            starts.append(index + 3)
        }
        return starts.enumerated().map { number, start in
            let end = number + 1 < starts.count ? starts[number + 1] - 3 : bytes.count
            let nal = bytes[start..<end]
            return Array(nal[...(nal.lastIndex { $0 != 0 } ?? start)])
        }
    }

    private static func packets(
        _ nal: [UInt8], isHEVC: Bool, timestamp: UInt32, isLast: Bool, sequence: Int
    ) -> [[UInt8]] {
        var payloads = [nal]
        if nal.count > mtu {
            let head = isHEVC ? 2 : 1
            let type = isHEVC ? nal[0] >> 1 & 0x3F : nal[0] & 0x1F
            let places = Array(stride(from: head, to: nal.count, by: mtu))
            payloads = places.map { place in
                let flags = (place == head ? 0x80 : 0) | (place == places[places.count - 1] ? 0x40 : 0) | type
                let header = isHEVC ? [nal[0] & 0x81 | 49 << 1, nal[1], flags] : [nal[0] & 0xE0 | 28, flags]
                return header + nal[place..<min(place + mtu, nal.count)]
            }
        }
        return payloads.enumerated().map { index, payload in
            let number = sequence + index
            let hasMarker = isLast && index == payloads.count - 1
            var header: [UInt8] = [0x80, hasMarker ? 0xE0 : 0x60, UInt8(number >> 8 & 255), UInt8(number & 255)]
            header += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: timestamp >> UInt32($0)) }
            return header + [1, 2, 3, 4] + payload
        }
    }
}
