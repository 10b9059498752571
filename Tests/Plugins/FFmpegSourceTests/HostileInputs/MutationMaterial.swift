import Foundation
import ReferenceTools

/// The valid inputs that are damaged, from clips that ffmpeg made.
struct MutationMaterial: Sendable {
    /// The beginning of a transport stream.
    let ts: Data
    private let streams: [(sdp: String, packets: [Data])]

    init() throws {
        ts = try Data(contentsOf: URL(fileURLWithPath: TestClips.path("late-start.ts"))).prefix(40_000)
        streams = try [
            Self.stream("h264-b.mp4", "h264", "H264/90000", "packetization-mode=1"),
            Self.stream("hevc.mp4", "hevc", "H265/90000", "sprop-max-don-diff=0"),
        ]
    }

    func sdp(_ seed: UInt64) -> String { streams[Int(seed % UInt64(streams.count))].sdp }
    func packets(_ seed: UInt64) -> [Data] { streams[Int(seed % UInt64(streams.count))].packets }

    func playlist(_ seed: UInt64) -> String {
        seed % 2 == 0
            ? "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:2.0,\n/segment/\(seed).ts\n#EXTINF:1.5,\n"
                + "/segment/\(seed + 1).ts\n#EXT-X-ENDLIST\n"
            : "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1280000,RESOLUTION=640x360,CODECS=\"avc1.42e01e\"\n/playlist/\(seed - 1)\n"
                + "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"x\",URI=\"/playlist/\(seed - 1)\"\n"
    }

    /// A clip as RTP, by RFC 6184 and RFC 7798, with the session description of ffmpeg's own sender.
    private static func stream(_ clip: String, _ format: String, _ map: String, _ parameters: String) throws -> (
        String, [Data]
    ) {
        let stream = try ReferenceCommand.ffmpeg([
            "-i", TestClips.path(clip), "-c", "copy", "-an", "-frames:v", "12", "-bsf:v", "\(format)_mp4toannexb", "-f",
            format, "-",
        ])
        let units = units(of: [UInt8](stream))
        let sdp =
            "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\na=range:npt=0-\nm=video 0 RTP/AVP 96\n"
            + "a=rtpmap:96 \(map)\na=fmtp:96 \(parameters)\na=framerate:25\na=control:trackID=0\n"
        var packets: [Data] = []
        for (index, unit) in units.enumerated() {
            for (payload, isLast) in format == "h264" ? fragmentsOfH264(unit) : fragmentsOfHEVC(unit) {
                let number = UInt16(truncatingIfNeeded: packets.count)
                let time = UInt32(index) * 3600
                var packet = Data([0x80, isLast ? 0xe0 : 0x60, UInt8(number >> 8), UInt8(number & 255)])
                for shift in stride(from: 24, through: 0, by: -8) {
                    packet.append(UInt8(truncatingIfNeeded: time >> UInt32(shift)))
                }
                packet += [0, 0, 0, 1]
                packets.append(packet + payload)
            }
        }
        return (sdp, packets)
    }

    private static func units(of stream: [UInt8]) -> [[UInt8]] {
        var starts: [Int] = []
        for index in 0..<max(0, stream.count - 3)
        where stream[index] == 0 && stream[index + 1] == 0 && stream[index + 2] == 1 {
            starts.append(index + 3)
        }
        return starts.indices.map { index in
            let end = index + 1 < starts.count ? starts[index + 1] - 3 : stream.count
            return Array(stream[starts[index]..<max(starts[index], end)])
        }.filter { $0.count > 2 }
    }

    private static func fragmentsOfH264(_ unit: [UInt8]) -> [([UInt8], Bool)] {
        guard unit.count > 1200 else { return [(unit, true)] }
        return pieces(unit.dropFirst()).map { piece, isFirst, isLast in
            ([unit[0] & 0xe0 | 28, (isFirst ? 0x80 : 0) | (isLast ? 0x40 : 0) | unit[0] & 31] + piece, isLast)
        }
    }

    private static func fragmentsOfHEVC(_ unit: [UInt8]) -> [([UInt8], Bool)] {
        guard unit.count > 1200 else { return [(unit, true)] }
        return pieces(unit.dropFirst(2)).map { piece, isFirst, isLast in
            let type = unit[0] >> 1 & 63
            return (
                [unit[0] & 0x81 | 49 << 1, unit[1], (isFirst ? 0x80 : 0) | (isLast ? 0x40 : 0) | type] + piece, isLast
            )
        }
    }

    private static func pieces(_ bytes: ArraySlice<UInt8>) -> [(ArraySlice<UInt8>, Bool, Bool)] {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: 1200).map { start in
            let end = min(start + 1200, bytes.endIndex)
            return (bytes[start..<end], start == bytes.startIndex, end == bytes.endIndex)
        }
    }
}
