import Foundation
import InletCore
import ReferenceTools
import Testing

@testable import InletFFmpeg

/// MP4 fragments, read by ffprobe.
@Suite(.blocking) struct FragmentMuxerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The packets of a clip of 60 pictures with B-frames; those from the 40th on are two seconds later.
    private func packets() throws -> [EncodedPacket] {
        let (stream, file) = (folder.path("clip.h264"), folder.path("clip.mp4"))
        try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2.4"]
                + ["-vf", "setpts='N+if(lt(N,40),0,50)'", "-fps_mode", "passthrough"]
                + ["-c:v", "libx264", "-bf", "2", "-g", "20", "-x264-params", "aud=1:scenecut=0", file])
        try ReferenceCommand.ffmpeg(["-i", file, "-c", "copy", "-f", "h264", stream])
        let lines = try ReferenceCommand.run(
            "ffprobe", ["-v", "error", "-show_entries", "packet=pts_time,dts_time,flags", "-of", "csv=p=0", file])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: stream)))
        // Each access unit begins with a delimiter; only the first has data before it.
        let delimiters = bytes.indices.filter { bytes[$0...].starts(with: [0, 0, 1, 9]) }
        let starts = [0] + delimiters.dropFirst() + [bytes.count]
        return try zip(String(decoding: lines, as: UTF8.self).split(separator: "\n"), zip(starts, starts.dropFirst()))
            .map { line, unit in
                let fields = line.split(separator: ",")
                let times = try (0..<2).map { Int64((try #require(Double(fields[$0])) * 90_000).rounded()) }
                return EncodedPacket(
                    data: PacketData(Array(bytes[unit.0..<unit.1])),
                    pts: MediaTime(ticks: times[0], timeBase: Rational(1, 90_000)),
                    dts: MediaTime(ticks: times[1], timeBase: Rational(1, 90_000)),
                    isKey: fields[2].contains("K"), captureTime: MonotonicTime(nanoseconds: 0))
            }
    }

    @Test("Pictures keep their times, no matter how packets are divided into fragments", arguments: [1, 3, 7])
    func times(perFragment count: Int) throws {
        let packets = try packets()
        try #require(packets.count == 60)
        let first = try FFmpegPacket()
        try first.fill(sharing: packets[0].data)
        let parameters = try CodecParameters(
            codec: .h264, size: ImageSize(width: 64, height: 48), timeBase: Rational(1, 90_000),
            extraData: #require(PacketInspection.parameterSets(in: first, .h264)))
        let muxer = try FragmentMuxer(parameters)
        var written = Data()
        for (index, packet) in packets.enumerated() {
            try muxer.add(packet, wallClock: 0)
            guard (index + 1).isMultiple(of: count) || index == 59 else { continue }
            for piece in try muxer.flush() {
                switch piece {
                case .beginning(let bytes), .fragment(let bytes): written += bytes
                }
            }
        }
        let path = folder.path("fragments.mp4")
        try written.write(to: URL(fileURLWithPath: path))
        let shown = try ReferenceCommand.run(
            "ffprobe", ["-v", "error", "-show_entries", "packet=pts_time", "-of", "csv=p=0", path])
        let times = String(decoding: shown, as: UTF8.self).split(separator: "\n").compactMap { Double($0) }
        let begin = Double(packets[0].dts.ticks) / 90_000
        let wanted = packets.map { Double($0.pts.ticks) / 90_000 - begin }
        #expect(times.count == 60)
        for (index, (time, wanted)) in zip(times, wanted).enumerated() {
            #expect(abs(time - wanted) < 0.0001, "packet \(index)")
        }
    }
}
