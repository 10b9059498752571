import Foundation
import ReferenceTools
import Testing

/// `inlet run` as a whole.
@Suite(.blocking) struct RunTests {
    @Test("Limits end a run at the stated point")
    func limits() throws {
        let frames = try Report(
            InletProcess.run(["run", "pattern:smpte?pace=none", "--frames", "7", "--report", "json"]))
        #expect(frames.ended == "frameLimit")
        #expect(frames.frames.captured == 7 && frames.frames.delivered == 7)
        let time = try Report(
            InletProcess.run(["run", "pattern:smpte?pace=none&fps=30", "--duration", "2", "--report", "json"]))
        #expect(time.ended == "durationLimit")
        #expect(time.frames.captured == 60)
    }

    @Test("A rate below the source's takes evenly spaced frames")
    func rate() throws {
        let inlet = try InletProcess.run([
            "run", "pattern:ball?pace=none&fps=30&frames=90&size=64x64", "--max-fps", "10", "--to", "framemd5:-",
            "--report", "json",
        ])
        #expect(FrameLines(inlet.output).lines.map(\.pts) == (0..<30).map { "\($0 * 3)" })
        // The pattern draws no other frames, so none is dropped.
        let report = try Report(inlet)
        #expect(report.frames.captured == 30 && report.frames.dropped.isEmpty)
    }

    @Test("A size set by the command keeps the rate requested by the sink")
    func sizeAndRateOfTheSink() throws {
        let folder = try TemporaryFolder()
        let inlet = try InletProcess.run([
            "run", "pattern:ball?pace=none&fps=30&frames=90&size=64x64", "--size", "32x32", "--to",
            "jpeg:\(folder.path("still-{n}.jpg"))?every=1s",
        ])
        #expect(inlet.status == 0, "\(inlet.complaints)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).count == 3)
    }

    @Test("The rate option's former name has the same effect, and using both names is refused")
    func formerNameOfTheRate() throws {
        let run = [
            "run", "pattern:ball?pace=none&fps=30&frames=90&size=64x64", "--to", "framemd5:-", "--report", "none",
        ]
        #expect(FrameLines(try InletProcess.run(run + ["--fps", "10"]).output).lines.count == 30)
        let both = try InletProcess.run(run + ["--fps", "10", "--max-fps", "5"])
        #expect(both.status == 64 && both.complaints.contains("former name of --max-fps"), "\(both.complaints)")
    }

    @Test("A rate below that of a file takes evenly spaced frames and counts the others")
    func rateOfFile() throws {
        let clip = try TestClips.path("h264-b.mp4")
        let all = FrameLines(try InletProcess.run(["run", clip, "--to", "framemd5:-", "--report", "none"]).output)
        let inlet = try InletProcess.run(["run", clip, "--max-fps", "10", "--to", "framemd5:-", "--report", "json"])
        let expected = all.lines.enumerated().filter { $0.offset.isMultiple(of: 3) }.map(\.element)
        #expect(FrameLines(inlet.output).lines == expected)
        #expect(try Report(inlet).frames.dropped == ["rateLimited": all.lines.count - expected.count])
    }

    @Test("Scaling gives pictures of the requested size")
    func size() throws {
        let inlet = try InletProcess.run([
            "run", TestClips.path("h264-b.mp4"), "--size", "160x90", "--to", "framemd5:-", "--report", "none",
        ])
        let lines = FrameLines(inlet.output).lines
        #expect(lines.count == 30)
        #expect(lines.allSatisfy { $0.size == "\(160 * 90 * 3 / 2)" })
    }

    @Test("Several sinks receive the same frames in one run")
    func severalSinks() throws {
        let folder = try TemporaryFolder()
        let clip = try TestClips.path("h264-b.mp4")
        let inlet = try InletProcess.run([
            "run", clip, "--to", "framemd5:-", "--to", "i420:\(folder.path("raw"))", "--report", "none",
        ])
        let raw = FrameLines(
            try ReferenceCommand.ffmpeg([
                "-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", "320x240", "-i", folder.path("raw"), "-f",
                "framemd5", "-",
            ]))
        #expect(FrameLines(inlet.output).lines.map(\.md5) == raw.lines.map(\.md5))
        #expect(raw.lines.count == 30)
    }

    @Test("A loop continues PTS as ffmpeg's -stream_loop does, and shows the same pictures again")
    func loop() throws {
        let clip = try TestClips.path("h264-nob.mp4")
        let once = FrameLines(try InletProcess.run(["run", clip, "--to", "framemd5:-", "--report", "none"]).output)
            .lines
        let thrice = FrameLines(
            try InletProcess.run(["run", "file:\(clip)?loop=2", "--to", "framemd5:-", "--report", "none"]).output
        ).lines
        #expect(thrice.map(\.md5) == once.map(\.md5) + once.map(\.md5) + once.map(\.md5))
        let times = thrice.compactMap { Int($0.pts) }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("plugins names every option with its default")
    func plugins() throws {
        let text = String(decoding: try InletProcess.run(["plugins", "file"]).output, as: UTF8.self)
        for option in ["loop", "start", "pace", "threads", "stream"] { #expect(text.contains(option)) }
    }
}
