import Foundation
import ReferenceTools
import Testing

/// Files through `inlet run`, compared with the `ffmpeg` command.
@Suite(.blocking) struct FileExactnessTests {
    @Test(
        "Pictures and PTS of 8-bit 4:2:0 files match ffmpeg's bit for bit",
        arguments: [
            "h264-b.mp4", "h264-nob.mp4", "h264-open-gop.mkv", "hevc.mp4", "vp9.webm", "av1.mkv", "odd.mkv", "odd.webm",
            "vfr.mkv", "late-start.ts", "rotated.mp4", "sound.mp4", "small.ts", "small.h264", "mpeg2.mpg",
        ])
    func exact(_ clip: String) throws {
        let path = try TestClips.path(clip)
        let inlet = try InletProcess.run(["run", path, "--to", "framemd5:-", "--report", "none"])
        #expect(inlet.status == 0, "\(inlet.complaints)")
        let expected = try FrameLines.ffmpeg(path)
        #expect(!expected.lines.isEmpty)
        #expect(FrameLines(inlet.output) == expected)
    }

    @Test("A full-range file keeps its range: the pictures match what ffmpeg decodes before it compresses the range")
    func fullRange() throws {
        let path = try TestClips.path("full-range.mp4")
        let inlet = try InletProcess.run(["run", path, "--to", "framemd5:-", "--report", "none"])
        #expect(FrameLines(inlet.output) == (try FrameLines.ffmpeg(path, pixelFormat: "yuvj420p")))

        // When ffmpeg compresses our y4m, which states full range, the pictures match those of the original file.
        let squeezed = try InletProcess.shell(
            "\"$INLET\" run '\(path)' --to y4m:- --report none | ffmpeg -v error -nostdin -i - -vf scale=out_range=limited -pix_fmt yuv420p -f framemd5 -"
        )
        let expected = try FrameLines.ffmpeg(path)
        #expect(FrameLines(squeezed.output).lines.map(\.md5) == expected.lines.map(\.md5))
    }

    @Test(
        "After a size change, each part has its own size, and PTS continue",
        arguments: [("resize.ts", "small.ts", "large.ts"), ("resize.h264", "small.h264", "large.h264")])
    func resize(whole: String, first: String, second: String) throws {
        let path = try TestClips.path(whole)
        let inlet = FrameLines(try InletProcess.run(["run", path, "--to", "framemd5:-", "--report", "none"]).output)
        let pieces = try [first, second].map { try FrameLines.ffmpeg(TestClips.path($0)) }
        #expect(inlet.lines.map(\.md5) == pieces.flatMap { $0.lines.map(\.md5) })
        #expect(inlet.lines.map(\.size) == pieces.flatMap { $0.lines.map(\.size) })
        #expect(inlet.lines.map(\.pts) == (try FrameLines.ffmpeg(path)).lines.map(\.pts))
    }

    @Test(
        "Files of other formats keep their PTS and reach at least 45 dB PSNR against ffmpeg",
        arguments: [
            "h264-444.mkv", "h264-10bit.mkv", "hevc-10bit.mp4", "mjpeg422.avi", "picture.gif", "picture.png",
            "picture.jpg",
        ])
    func alike(_ clip: String) throws {
        let path = try TestClips.path(clip)
        let inlet = try InletProcess.run(["run", path, "--to", "framemd5:-", "--report", "none"])
        #expect(FrameLines(inlet.output).lines.map(\.pts) == (try FrameLines.ffmpeg(path)).lines.map(\.pts))

        // Both sides are converted to raw limited-range I420. Ours goes through y4m, which carries its range, so ffmpeg
        // converts both in the same way.
        let folder = try TemporaryFolder()
        let flags = ["-sws_flags", "accurate_rnd+full_chroma_int"]
        try ReferenceCommand.ffmpeg(
            ["-noautorotate", "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough"] + flags
                + ["-pix_fmt", "yuv420p", "-f", "rawvideo", folder.path("expected")])
        let y4m = folder.path("inlet.y4m")
        #expect(try InletProcess.run(["run", path, "--to", "y4m:\(y4m)", "--report", "none"]).status == 0)
        try ReferenceCommand.ffmpeg(
            ["-i", y4m, "-vf", "scale=out_range=limited"] + flags + [
                "-pix_fmt", "yuv420p", "-f", "rawvideo", folder.path("actual"),
            ])
        let expected = try Data(contentsOf: URL(fileURLWithPath: folder.path("expected")))
        let actual = try Data(contentsOf: URL(fileURLWithPath: folder.path("actual")))
        try #require(expected.count == actual.count)
        #expect(Self.psnr(expected, actual) >= 45)
    }

    static func psnr(_ left: Data, _ right: Data) -> Double {
        var sum = 0
        for (a, b) in zip([UInt8](left), [UInt8](right)) {
            let difference = Int(a) - Int(b)
            sum += difference * difference
        }
        return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(left.count) / Double(sum))
    }

    @Test("Rotation is reported clockwise, as ffmpeg rotates the picture by default")
    func rotation() throws {
        struct Probe: Decodable { var rotation: Int }
        let path = try TestClips.path("rotated.mp4")
        let probe = try InletProcess.run(["probe", "--json", path])
        let rotation = try JSONDecoder().decode(Probe.self, from: probe.output).rotation
        let filter = try #require([90: "transpose=clock", 180: "hflip,vflip", 270: "transpose=cclock"][rotation])
        func first(_ arguments: [String], _ filters: [String]) throws -> FrameLines {
            FrameLines(
                try ReferenceCommand.ffmpeg(
                    arguments + ["-i", path, "-frames:v", "1"] + filters + ["-f", "framemd5", "-"]))
        }
        #expect(try first([], []) == first(["-noautorotate"], ["-vf", filter]))
    }

    @Test(
        "High dynamic range is reported by name",
        arguments: [("smpte2084", "PQ"), ("arib-std-b67", "HLG"), ("bt709", "")])
    func highDynamicRange(transfer: String, name: String) throws {
        struct Probe: Decodable { var hdr: String? }
        let folder = try TemporaryFolder()
        let path = folder.path("clip.mkv")
        try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=64x48:duration=0.2", "-c:v", "libx264", "-pix_fmt", "yuv420p10le"]
                + ["-color_trc", transfer, "-color_primaries", "bt2020", "-colorspace", "bt2020nc", path])
        let probe = try InletProcess.run(["probe", "--json", path])
        #expect(try JSONDecoder().decode(Probe.self, from: probe.output).hdr == (name.isEmpty ? nil : name))
        let run = try InletProcess.run(["run", path, "--to", "null:"])
        #expect(run.complaints.contains("high dynamic range (\(name))") == !name.isEmpty, "\(run.complaints)")
    }
}
