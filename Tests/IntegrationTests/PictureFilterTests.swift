import Foundation
import ReferenceTools
import Testing

/// Filters of whole runs, compared with the ffmpeg command.
@Suite(.tags(.encoder), .blocking) struct PictureFilterTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    /// Interlaced video with B-frames.
    private func interlaced(_ order: String, _ codec: String, filter: String = "null") throws -> String {
        let path = folder.path("fields.ts")
        let top = order == "tff" ? "1" : "0"
        var encoder = ["-c:v", codec, "-flags", "+ildct+ilme", "-top", top, "-bf", "2", "-pix_fmt", "yuv420p"]
        encoder += codec == "libx264" ? ["-x264-params", order == "tff" ? "tff=1" : "bff=1"] : ["-q:v", "2"]
        try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=160x120:rate=50:duration=1", "-vf"]
                + ["\(filter),tinterlace=interleave_top,fieldorder=\(order)"] + encoder + [path])
        return path
    }

    /// What ffmpeg makes of a file by filters.
    private func expected(_ path: String, _ filter: String) throws -> [FrameLines.Line] {
        try FrameLines(
            ReferenceCommand.ffmpeg(
                ["-noautorotate", "-copyts", "-i", path, "-vf", filter, "-fps_mode", "passthrough"]
                    + ["-enc_time_base", "-1", "-pix_fmt", "yuv420p", "-f", "framemd5", "-"])
        ).lines
    }

    private func run(_ path: String, to sink: String = "framemd5:-", _ more: String...) throws -> [FrameLines.Line] {
        let run = try InletProcess.run(["run", path, "--to", sink, "--report", "none"] + more)
        #expect(run.status == 0, "\(run.complaints)")
        return FrameLines(run.output).lines
    }

    @Test(
        "Every picture of an interlaced file is ffmpeg's bwdif, with its time",
        arguments: ["tff", "bff"], ["libx264", "mpeg2video"])
    func deinterlacing(order: String, codec: String) throws {
        let path = try interlaced(order, codec)
        let expected = try expected(path, "bwdif=mode=send_frame")
        try #require(expected.count == 25)
        #expect(try run(path, to: "framemd5:-?deinterlace=true") == expected)
        #expect(try run(path, "--deinterlace") == expected)
        let plain = try self.expected(path, "null")
        #expect(try run(path) == plain, "by default only stills and pages are deinterlaced")
        #expect(try run(path, to: "framemd5:-?deinterlace=true", "--no-deinterlace") == plain)
    }

    @Test("The last picture of a run that is limited is not lost")
    func limit() throws {
        let path = try interlaced("tff", "libx264")
        let expected = try expected(path, "trim=end_frame=7,bwdif=mode=send_frame")
        try #require(expected.count == 7)
        #expect(try run(path, "--deinterlace", "--frames", "7") == expected)
    }

    @Test("Progressive pictures are unchanged")
    func progressive() throws {
        let path = folder.path("frames.mkv")
        try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=1", "-c:v", "libx264", path])
        #expect(try run(path, "--deinterlace") == expected(path, "null"))
    }

    @Test("A recording is deinterlaced by option, and says so")
    func recording() throws {
        let path = try interlaced("tff", "mpeg2video")
        let recorded = folder.path("out.mkv")
        let run = try InletProcess.run(
            ["run", path, "--to", "mkv:\(recorded)?codec=ffv1&deinterlace=true", "--report", "none"])
        #expect(run.status == 0, "\(run.complaints)")
        #expect(
            try expected(recorded, "null").map(\.md5) == expected(path, "bwdif=mode=send_frame").map(\.md5))
        let probed = try ReferenceCommand.run(
            "ffprobe", ["-v", "error", "-show_entries", "frame=interlaced_frame", "-of", "csv=p=0", recorded])
        #expect(Set(String(decoding: probed, as: UTF8.self).split(separator: "\n").map { $0.first }) == ["0"])
        let copy = try InletProcess.run(["run", path, "--to", "mkv:\(recorded)?codec=copy&deinterlace=true"])
        #expect(copy.status == 64 && copy.complaints.contains("Leave out"), "\(copy.complaints)")
    }

    @Test("Stills are deinterlaced by default")
    func still() throws {
        // Of gray pictures no RGB depends on how chroma is interpolated.
        let path = try interlaced("tff", "mpeg2video", filter: "hue=s=0")
        func picture(_ name: String, _ more: String...) throws -> Data {
            let still = folder.path(name)
            let run = try InletProcess.run(["snapshot", path, still] + more)
            #expect(run.status == 0, "\(run.complaints)")
            return try pixels(["-i", still])
        }
        func reference(_ filter: String) throws -> Data { try pixels(["-i", path, "-vf", filter]) }
        let (whole, fields) = try (reference("bwdif=mode=send_frame"), reference("null"))
        try #require(Self.psnr(whole, fields) < 30)
        #expect(try Self.psnr(picture("whole.png"), whole) > 40)
        #expect(try Self.psnr(picture("fields.png", "--no-deinterlace"), fields) > 40)
        let stills = folder.path("{n}.png")
        let run = try InletProcess.run(["run", path, "--to", "png:\(stills)", "--report", "none"])
        #expect(run.status == 0, "\(run.complaints)")
        #expect(try Self.psnr(pixels(["-i", folder.path("000001.png")]), whole) > 40)
    }

    /// The first picture as RGB.
    private func pixels(_ arguments: [String]) throws -> Data {
        try ReferenceCommand.ffmpeg(arguments + ["-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"])
    }

    private static func psnr(_ left: Data, _ right: Data) -> Double {
        guard left.count == right.count, !left.isEmpty else { return 0 }
        var sum = 0
        for (a, b) in zip([UInt8](left), [UInt8](right)) {
            let difference = Int(a) - Int(b)
            sum += difference * difference
        }
        return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(left.count) / Double(sum))
    }
}
