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

    /// The pictures that ffmpeg makes from a file with filters.
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
        "Every picture of an interlaced file matches ffmpeg's bwdif, with its time",
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

    @Test("The last picture of a limited run is not lost")
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

    @Test("A recording is deinterlaced by an option, and states progressive pictures")
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
        // RGB of gray pictures does not depend on the interpolation of chroma.
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

    // MARK: High dynamic range

    /// Ten pictures of 10 bits. The PQ pictures state the content's luminance.
    private func highRange(_ transfer: String) throws -> String {
        let path = folder.path("range.mkv")
        var options = "log-level=error:colorprim=bt2020:transfer=\(transfer):colormatrix=bt2020nc:keyint=4"
        if transfer == "smpte2084" { options += ":hdr10=1:max-cll=600,300" }
        try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=0.4,format=yuv420p10le", "-c:v", "libx265"]
                + ["-x265-params", options, "-color_trc", transfer, "-color_primaries", "bt2020"]
                + ["-colorspace", "bt2020nc", path])
        return path
    }

    private static func toneMap(_ transfer: String) -> String {
        """
        zscale=transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=bt709,\
        tonemap=tonemap=hable:desat=0:peak=\(transfer == "smpte2084" ? 6 : 10),\
        zscale=transfer=bt709:matrix=bt709:range=limited,format=yuv420p
        """
    }

    @Test(
        "Every high-dynamic-range picture matches ffmpeg's, from all ten bits and with the stated peak",
        arguments: ["smpte2084", "arib-std-b67"])
    func toneMapping(transfer: String) throws {
        let path = try highRange(transfer)
        let expected = try expected(path, Self.toneMap(transfer))
        try #require(expected.count == 10)
        #expect(try run(path, to: "framemd5:-?tone-map=true") == expected)
        #expect(try run(path, "--tone-map") == expected)
        #expect(try run(path, "--no-tone-map") == run(path), "by default only stills and pages are mapped")
        #expect(try run(path) != expected)
    }

    @Test("A tone-mapped recording states the colours of its pictures")
    func mappedRecording() throws {
        let path = try highRange("smpte2084")
        let recorded = folder.path("mapped.mkv")
        let run = try InletProcess.run(
            ["run", path, "--to", "mkv:\(recorded)?codec=ffv1&tone-map=true", "--report", "none"])
        #expect(run.status == 0, "\(run.complaints)")
        #expect(
            try expected(recorded, "null").map(\.md5) == expected(path, Self.toneMap("smpte2084")).map(\.md5))
        let probed = try ReferenceCommand.run(
            "ffprobe",
            ["-v", "error", "-show_entries", "stream=color_range,color_space,color_transfer,color_primaries"]
                + ["-of", "csv=p=0", recorded])
        #expect(String(decoding: probed, as: UTF8.self).trimmingCharacters(in: .newlines) == "tv,bt709,bt709,bt709")
    }

    @Test("Stills are tone-mapped by default")
    func mappedStill() throws {
        let path = try highRange("smpte2084")
        func picture(_ name: String, _ more: String...) throws -> Data {
            let still = folder.path(name)
            let run = try InletProcess.run(["snapshot", path, still] + more)
            #expect(run.status == 0, "\(run.complaints)")
            return try pixels(["-i", still])
        }
        let mapped = try pixels(["-i", path, "-vf", Self.toneMap("smpte2084") + ",scale=in_color_matrix=bt709"])
        let (whole, pale) = try (picture("mapped.png"), picture("pale.png", "--no-tone-map"))
        #expect(Self.psnr(whole, mapped) > Self.psnr(pale, mapped) + 6)
    }

    @Test("Pictures of standard range are unchanged")
    func ordinaryRange() throws {
        let path = folder.path("ordinary.mkv")
        try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=0.4", "-c:v", "libx264"]
                + ["-color_trc", "bt709", "-color_primaries", "bt709", "-colorspace", "bt709", path])
        #expect(try run(path, "--tone-map") == expected(path, "null"))
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
