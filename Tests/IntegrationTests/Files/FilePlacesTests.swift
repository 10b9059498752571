import Foundation
import ReferenceTools
import Testing

/// Start positions, repetitions and ends of files, compared with ffmpeg's list of all pictures.
@Suite(.tags(.encoder), .blocking) struct FilePlacesTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    /// Four seconds of 25 pictures each, with B-frames and a key frame each second.
    private func clip(_ ending: String) throws -> String {
        let path = folder.path("clip.\(ending)")
        let encoded = folder.path("encoded.mp4")
        if !FileManager.default.fileExists(atPath: encoded) {
            try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=4", "-c:v", "libx264", "-bf", "3", "-g",
                "25", "-pix_fmt", "yuv420p", encoded,
            ])
        }
        try ReferenceCommand.ffmpeg(["-i", encoded, "-c", "copy", path])
        return path
    }

    /// A picture with its time in ticks.
    private struct Picture {
        var pts: Int64
        var md5: String
    }

    private func run(_ uri: String, _ more: [String] = []) throws -> [Picture] {
        let run = try InletProcess.run(["run", uri, "--to", "framemd5:-", "--report", "none"] + more)
        #expect(run.status == 0, "\(run.complaints)")
        return try FrameLines(run.output).lines.map { try Picture(pts: #require(Int64($0.pts)), md5: $0.md5) }
    }

    static let containers = ["mp4", "mkv", "ts", "flv", "h264"]

    @Test(
        "A file starts with the picture at the given time, with or without an index, B-frames or times",
        arguments: containers, [0.04, 1.0, 2.0, 2.1, 3.0, 3.96])
    func start(_ container: String, seconds: Double) throws {
        let path = try clip(container)
        let all = try FrameLines.ffmpeg(path).lines.map(\.md5)
        try #require(all.count == 100)
        let found = try run("file:\(path)?start=\(Int((seconds * 1000).rounded()))ms").map(\.md5)
        #expect(found == Array(all.dropFirst(Int((seconds * 25).rounded()))))
    }

    @Test("A start time within the last picture's duration gives that picture", arguments: ["mp4", "mkv"])
    func lastPicture(_ container: String) throws {
        let path = try clip(container)
        let last = try #require(try FrameLines.ffmpeg(path).lines.last).md5
        #expect(try run("file:\(path)?start=3970ms").map(\.md5) == [last])
    }

    @Test("A start time after the end is reported as such")
    func behindEnd() throws {
        let run = try InletProcess.run(["run", "file:\(clip("mp4"))?start=9s", "--report", "json"])
        let error = try #require(try Report(run).error)
        #expect(error.code == "invalidConfiguration")
        #expect(error.message.contains("start"))
    }

    @Test("Each repetition of a file is complete, and the times continue", arguments: containers)
    func loop(_ container: String) throws {
        let path = try clip(container)
        let all = try FrameLines.ffmpeg(path).lines.map(\.md5)
        let found = try run("file:\(path)?loop=2")
        #expect(found.map(\.md5) == all + all + all)
        let times = found.map(\.pts)
        let steps = Set(zip(times.dropFirst(), times).map { $0 - $1 })
        #expect(steps.allSatisfy { $0 > 0 })
        // At 25 pictures a second, in ticks of a millisecond or finer.
        #expect(steps.count == 1, "\(steps)")
    }

    @Test("A repetition after a start in the middle continues the times", arguments: containers)
    func startAndLoop(_ container: String) throws {
        let path = try clip(container)
        let all = try FrameLines.ffmpeg(path).lines.map(\.md5)
        let found = try run("file:\(path)?start=3s&loop=1")
        #expect(found.map(\.md5) == Array(all.dropFirst(75)) + all)
        let times = found.map(\.pts)
        let steps = Set(zip(times.dropFirst(), times).map { $0 - $1 })
        #expect(steps.count == 1 && steps.allSatisfy { $0 > 0 }, "\(steps)")
    }

    @Test("A pipe is read through to the start time, and cannot be read again")
    func pipe() throws {
        let path = try clip("ts")
        let all = try FrameLines.ffmpeg(path).lines.map(\.md5)
        let started = try InletProcess.shell(
            "cat '\(path)' | \"$INLET\" run 'file:-?start=2s' --to framemd5:- --report none")
        #expect(FrameLines(started.output).lines.map(\.md5) == Array(all.dropFirst(50)))
        let looped = try InletProcess.shell("cat '\(path)' | \"$INLET\" run 'file:-?loop=1' --report json")
        let error = try #require(try Report(looped).error)
        #expect(error.code == "unsupported")
    }

    /// The pictures of a file as ffmpeg decodes them.
    private func pictures(_ path: String) throws -> [String] { try FrameLines.ffmpeg(path).lines.map(\.md5) }

    @Test("A copy of a trimmed MP4 shows no picture that its edit list hides", arguments: ["mkv", "mp4", "ts"])
    func trimmed(_ container: String) throws {
        let (path, trimmed) = (try clip("mp4"), folder.path("trimmed.mp4"))
        try ReferenceCommand.ffmpeg(["-ss", "1.4", "-i", path, "-c", "copy", trimmed])
        let shown = try pictures(trimmed)
        // ffmpeg hides the pictures from the key frame at 1 s on.
        try #require(shown == Array(try pictures(path).dropFirst(35)))
        let copy = folder.path("copy.\(container)")
        let run = try InletProcess.run(
            ["run", trimmed, "--to", "\(container):\(copy)?codec=copy", "--report", "none"])
        #expect(run.status == 0, "\(run.complaints)")
        // The copy begins at the first key frame that is shown: the pictures before it refer to hidden pictures.
        #expect(try pictures(copy) == Array(shown.dropFirst(15)))
    }

    /// Makes a series of six numbered pictures, from the given first number on.
    private func makeSeries(first: Int) throws -> String {
        let path = folder.path("img%03d.png")
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25", "-frames:v", "6", "-start_number", "\(first)", path,
        ])
        return path
    }

    @Test("Numbered pictures are a source, at ffmpeg's default rate or another", arguments: [0, 7, 120])
    func series(first: Int) throws {
        let path = try makeSeries(first: first)
        let expected = try FrameLines(
            ReferenceCommand.ffmpeg([
                "-start_number", "\(first)", "-i", path, "-f", "framemd5", "-pix_fmt", "yuv420p", "-",
            ])
        ).lines
        try #require(expected.count == 6)
        #expect(try run(path).map { "\($0.pts)" } == expected.map(\.pts))
        let uri = "file:\(path.replacingOccurrences(of: "%", with: "%25"))"
        #expect(try run("\(uri)?loop=1").count == 12)
        let run = try InletProcess.run(["probe", "--json", "\(uri)?fps=5"])
        #expect(String(decoding: run.output, as: UTF8.self).contains("\"5\""), "\(run.complaints)")
    }

    @Test("Numbered pictures that do not exist are reported as missing, and a rate without effect is refused")
    func noSeries() throws {
        let missing = try InletProcess.run(["run", folder.path("no%03d.png"), "--report", "json"])
        #expect(try Report(missing).error?.code == "notFound")
        let clip = try InletProcess.run(["run", "file:\(clip("mp4"))?fps=5", "--report", "json"])
        #expect(try Report(clip).error?.code == "invalidConfiguration")
        let raw = try run("file:\(self.clip("h264"))?fps=50")
        #expect(raw.count == 100)
    }

    @Test("A lower rate is kept when key frames become rarer")
    func rarerKeyFrames() throws {
        let path = folder.path("rare.ts")
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=24", "-c:v", "libx264", "-g", "1000",
            "-sc_threshold", "0", "-force_key_frames", "0,1,2,3,4,5,6,18", "-bf", "0", "-pix_fmt", "yuv420p", path,
        ])
        let lines = try run(path, ["--max-fps", "1"])
        let all = Dictionary(
            try FrameLines.ffmpeg(path).lines.map { (Int64($0.pts), $0.md5) }, uniquingKeysWith: { first, _ in first })
        let times = lines.map(\.pts)
        #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 <= 90_000 * 12 / 10 }, "\(times)")
        #expect(lines.allSatisfy { all[$0.pts] == $0.md5 })
        #expect(lines.count >= 22)
    }

    @Test("YUV4MPEG2 states the field order, as ffmpeg's output does", arguments: ["tff", "bff"])
    func fields(_ order: String) throws {
        let path = folder.path("fields.ts")
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=50:duration=1", "-vf",
            "tinterlace=interleave_top,fieldorder=\(order)", "-c:v", "mpeg2video", "-flags", "+ildct+ilme", "-top",
            order == "tff" ? "1" : "0", "-q:v", "2", "-pix_fmt", "yuv420p", path,
        ])
        func header(_ bytes: Data) -> [Substring] {
            String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self).split(separator: " ").filter { $0.first == "I" }
        }
        let expected = header(try ReferenceCommand.ffmpeg(["-i", path, "-f", "yuv4mpegpipe", "-"]))
        try #require(expected == [order == "tff" ? "It" : "Ib"])
        let run = try InletProcess.run(["run", path, "--to", "y4m:-", "--report", "none"])
        #expect(header(run.output) == expected)
        // Encoders receive the field order, too.
        let recorded = folder.path("fields.mkv")
        _ = try InletProcess.run(["run", path, "--to", "mkv:\(recorded)", "--report", "none"])
        let probed = try ReferenceCommand.run(
            "ffprobe",
            ["-v", "error", "-show_entries", "frame=interlaced_frame,top_field_first", "-of", "csv=p=0", recorded])
        let lines = Set(String(decoding: probed, as: UTF8.self).split(separator: "\n").map { $0.prefix(3) })
        #expect(lines == [order == "tff" ? "1,1" : "1,0"])
    }
}
