import Foundation
import InletCore
import InletRTP
import ReferenceTools
import Testing

/// A clip in an MPEG transport stream that ffmpeg made, and ffprobe's description of its pictures.
struct TransportClip {
    /// The packets of the transport stream, one after another.
    let bytes: [UInt8]
    /// The presentation times of the pictures in decoding order, continued over the wrap of the 33 bits.
    let times: [Int64]
    /// The NAL units of each picture, without start codes; of other codecs the whole picture.
    let pictures: [[[UInt8]]]

    /// The encoding and muxing of a clip.
    enum Kind: String, Sendable, CaseIterable {
        case h264 = "-c:v libx264 -bf 2 -x264-params slices=2"
        case h264WithSizes = "-c:v libx264 -bf 2 -omit_video_pes_length 0"
        case h264Live = "-c:v libx264 -tune zerolatency -muxrate 3M"
        case hevc = "-c:v libx265 -bf 2 -x265-params log-level=error:slices=2"
        case mpeg2 = "-c:v mpeg2video -bf 2"
        case mpeg4 = "-c:v mpeg4 -bf 2"

        var codec: VideoCodec {
            switch self {
            case .h264, .h264WithSizes, .h264Live: .h264
            case .hevc: .hevc
            case .mpeg2: VideoCodec(rawValue: "mpeg2video")
            case .mpeg4: VideoCodec(rawValue: "mpeg4")
            }
        }

        /// Whether the pictures are made of NAL units.
        var hasUnits: Bool { codec == .h264 || codec == .hevc }
    }

    /// Encodes a clip with a sound track.
    init(_ kind: Kind) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("clip.ts")
        try ReferenceCommand.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=192x144:rate=25", "-f", "lavfi", "-i", "sine=frequency=440",
                "-frames:v", "50", "-t", "2", "-pix_fmt", "yuv420p", "-g", "12", "-b:v", "400k", "-threads", "1",
                "-c:a", "mp2", "-mpegts_copyts", "1", "-output_ts_offset", "95443",
            ] + kind.rawValue.split(separator: " ").map(String.init) + ["-f", "mpegts", path])
        bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        let listing = try ReferenceCommand.run(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts,size", "-of",
                "default=noprint_wrappers=1", path,
            ])
        let content = try ReferenceCommand.ffmpeg(["-i", path, "-map", "0:v:0", "-c", "copy", "-f", "data", "-"])
        var (times, pictures, place): ([Int64], [[UInt8]], Int) = ([], [], 0)
        for line in String(decoding: listing, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("pts=") { times.append(try #require(Int64(line.dropFirst(4)))) }
            guard line.hasPrefix("size=") else { continue }
            let size = try #require(Int(line.dropFirst(5)))
            pictures.append(Array(content[place..<min(place + size, content.count)]))
            place += size
        }
        try #require(place == content.count)
        try #require(times.count == 50 && !pictures.contains { $0.isEmpty })
        self.times = times
        self.pictures = pictures.map { kind.hasUnits ? Self.units($0) : [$0] }
    }

    /// The NAL units of bytes with start codes, without trailing zeros.
    static func units(_ bytes: [UInt8]) -> [[UInt8]] {
        var (units, zeros): ([[UInt8]], Int) = ([], 0)
        for byte in bytes {
            if byte == 1, zeros >= 2 {
                units.append([])
            } else if !units.isEmpty {
                units[units.count - 1].append(byte)
            }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return units.map { unit in Array(unit[...(unit.lastIndex { $0 != 0 } ?? 0)]) }
    }

    /// The bytes cut into payloads of that many packets of 188 bytes each.
    func payloads(_ packets: Int) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: bytes.count, by: packets * 188).map { bytes[$0..<min($0 + packets * 188, bytes.count)] }
    }
}
