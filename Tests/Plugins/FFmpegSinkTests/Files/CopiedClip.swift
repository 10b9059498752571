import Foundation
import InletCore
import ReferenceTools

/// The packets of an MP4 file as ffprobe lists them, with length prefixes before their NAL units, for sinks that copy.
struct CopiedClip {
    var parameters: CodecParameters
    var packets: [EncodedPacket] = []
    /// The file, as ffmpeg wrote it.
    let path: String

    /// Encodes moving pictures with ffmpeg, and reads the packets.
    ///
    /// - Parameters:
    ///   - options: the encoder and its options.
    ///   - rate: the pictures per second. The default is 30.
    init(_ codec: VideoCodec, _ options: [String], frames: Int, rate: Int = 30, in folder: TemporaryFolder) throws {
        path = folder.path("\(UUID().uuidString).mp4")
        try ReferenceCommand.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=\(rate)", "-frames:v", "\(frames)", "-pix_fmt",
                "yuv420p",
            ]
                + options + [path])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        parameters = CodecParameters(
            codec: codec, size: ImageSize(width: 160, height: 120), timeBase: Rational(1, 90_000))
        parameters.extraData = try Self.box(codec == .h264 ? "avcC" : "hvcC", in: bytes)
        for line in try Recording.probe(path, "packet=pts_time,dts_time,size,pos,flags") {
            let fields = line.split(separator: ",").map(String.init)
            guard fields.count >= 5, let pts = Double(fields[0]), let dts = Double(fields[1]),
                let size = Int(fields[2]), let place = Int(fields[3])
            else { throw Unreadable(line: line) }
            packets.append(
                Self.packet([UInt8](bytes[place..<place + size]), pts, dts, isKey: fields[4].hasPrefix("K")))
        }
    }

    struct Unreadable: Error {
        var line: String
    }

    static func packet(_ bytes: [UInt8], _ pts: Double, _ dts: Double, isKey: Bool) -> EncodedPacket {
        // Decoding may begin before the time 0.
        func time(_ seconds: Double) -> MediaTime {
            MediaTime(ticks: Int64((seconds * 90_000).rounded()) + 90_000, timeBase: Rational(1, 90_000))
        }
        return EncodedPacket(
            data: PacketData(bytes), pts: time(pts), dts: time(dts), isKey: isKey,
            captureTime: MonotonicTime(nanoseconds: time(pts).nanoseconds))
    }

    private static func box(_ name: String, in bytes: Data) throws -> [UInt8] {
        guard let range = bytes.range(of: Data(name.utf8)), range.lowerBound >= 4 else { throw Unreadable(line: name) }
        let size = bytes[range.lowerBound - 4..<range.lowerBound].reduce(0) { $0 << 8 | Int($1) }
        return [UInt8](bytes[range.upperBound..<range.lowerBound - 4 + size])
    }

    /// Writes all packets, from the sink's start to its end.
    func write(to sink: any PacketSink) throws {
        try sink.start(parameters)
        for packet in packets { try sink.write(packet) }
        try sink.finish()
    }
}
