import Foundation
import InletCapture
import InletCore
import InletTesting
import PatternSource
import ReferenceTools
import StillSinks
import Testing

/// Still pictures as FFmpeg and the file system see them.
@Suite(.tags(.encoder), .blocking) struct StillSinkTests {
    static let size = ImageSize(width: 161, height: 90)

    private func files(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted()
    }

    private func frames(_ count: Int, flags: (Int) -> FrameFlags = { _ in [.key] }) throws -> [VideoFrame] {
        let reference = try ReferencePictures(
            lavfi: "testsrc2=size=162x90:rate=25,crop=161:90:0:0:exact=1", size: Self.size, frames: count)
        return try (0..<count).map { index in
            VideoFrame(
                buffer: try reference.packed(index), timestamp: MonotonicTime(nanoseconds: Int64(index) * 40_000_000),
                sequence: UInt64(index), colorSpace: .bt601, flags: flags(index))
        }
    }

    /// - Returns: the number of frames that the sink took before it stopped.
    @discardableResult
    private func write(_ frames: [VideoFrame], to configuration: StillSinkConfiguration) throws -> Int {
        let sink = configuration.makeSink()
        try sink.start(VideoFormat(size: Self.size, timeBase: Rational(1, 25), colorSpace: .bt601), SinkContext())
        for (index, frame) in frames.enumerated() {
            do {
                try sink.consume(frame)
            } catch is SinkStopped {
                try sink.finish()
                return index
            }
        }
        try sink.finish()
        return frames.count
    }

    private func rgb(_ path: String) throws -> Data {
        try ReferenceCommand.ffmpeg([
            "-i", path, "-sws_flags", "bicubic+accurate_rnd+full_chroma_int", "-f", "rawvideo", "-pix_fmt", "rgb24",
            "-",
        ])
    }

    @Test("Stills keep the contract of sinks", arguments: StillSinkConfiguration.Format.allCases)
    func conformance(format: StillSinkConfiguration.Format) async throws {
        let folder = try TemporaryFolder()
        var conformance = SinkConformance()
        conformance.unusable = StillSinkConfiguration(format, pattern: "still.jpg", taking: .all)
        let violations = await conformance.check {
            StillSinkConfiguration(format, pattern: folder.path("\(UUID().uuidString)-{n}"))
        }
        #expect(violations == [])
    }

    @Test(
        "A PNG has the same colours as FFmpeg's of the same picture",
        arguments: [ColorRange.limited, .full], [ColorMatrix.smpte170m, .bt709])
    func pngColors(range: ColorRange, matrix: ColorMatrix) throws {
        let folder = try TemporaryFolder()
        var frame = try frames(1)[0]
        frame.colorSpace = ColorSpace(matrix: matrix, range: range)
        try write([frame], to: StillSinkConfiguration(.png, pattern: folder.path("a.png")))
        let raw = folder.path("raw.yuv")
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=162x90:rate=25,crop=161:90:0:0:exact=1", "-frames:v", "1", "-pix_fmt",
            "yuv420p", "-f",
            "rawvideo", raw,
        ])
        let theirs = try ReferenceCommand.ffmpeg([
            "-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", "161x90", "-i", raw, "-vf",
            "scale=in_range=\(range.rawValue):in_color_matrix=\(matrix == .bt709 ? "bt709" : "bt601"):flags=bicubic+accurate_rnd+full_chroma_int",
            "-f", "rawvideo", "-pix_fmt", "rgb24", "-",
        ])
        let ours = try rgb(folder.path("a.png"))
        try #require(ours.count == theirs.count)
        let worst = zip(ours, theirs).map { abs(Int($0) - Int($1)) }.max()
        #expect(worst.map { $0 <= 2 } == true, "\(worst ?? -1)")
    }

    @Test("A JPEG is read by FFmpeg and close to the picture; a lower quality is smaller")
    func jpeg() throws {
        let folder = try TemporaryFolder()
        let frame = try frames(1)[0]
        try write([frame], to: StillSinkConfiguration(.png, pattern: folder.path("a.png")))
        var configuration = StillSinkConfiguration(.jpeg, pattern: folder.path("a.jpg"))
        try write([frame], to: configuration)
        configuration.pattern = folder.path("b.jpg")
        configuration.quality = 30
        try write([frame], to: configuration)
        let (png, jpeg) = (try rgb(folder.path("a.png")), try rgb(folder.path("a.jpg")))
        try #require(png.count == jpeg.count)
        let squares = zip(png, jpeg).reduce(0.0) { $0 + Double((Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1))) }
        #expect(squares / Double(png.count) < 30)
        let sizes = try ["a.jpg", "b.jpg"].map { try Data(contentsOf: URL(fileURLWithPath: folder.path($0))).count }
        #expect(sizes[1] * 3 < sizes[0] * 2, "\(sizes)")
    }

    @Test("The first frame, the key frames, or all frames are taken, as the names state")
    func taking() throws {
        let folder = try TemporaryFolder()
        let frames = try frames(7) { $0 % 3 == 0 ? [.key] : [] }
        #expect(try write(frames, to: StillSinkConfiguration(.jpeg, pattern: folder.path("once.jpg"))) == 1)
        try write(frames, to: StillSinkConfiguration(.png, pattern: folder.path("all-{n:1}"), taking: .all))
        try write(frames, to: StillSinkConfiguration(.jpeg, pattern: folder.path("key-{sequence}"), taking: .keyFrames))
        #expect(
            try files(folder) == (1...7).map { "all-\($0)" } + ["key-0", "key-3", "key-6", "once.jpg"])
    }

    @Test(
        "One frame per interval is taken, and the capturer skips the others",
        arguments: [
            (Duration.milliseconds(400), ["0", "10", "20", "30", "40"]), (.seconds(2148), ["0"]),
            (.seconds(86_400), ["0"]),
        ])
    func every(interval: Duration, names: [String]) async throws {
        let folder = try TemporaryFolder()
        let capturer = Capturer(
            PatternConfiguration(.ball, size: Self.size, frameRate: Rational(25), frames: 50, pace: .unpaced))
        capturer.attach(
            StillSinkConfiguration(.jpeg, pattern: folder.path("{sequence}"), taking: .every(interval)))
        // Requests all frames, so that the source produces them.
        capturer.attach(RecordingSink())
        try await capturer.run()
        #expect(try files(folder) == names)
        #expect(capturer.statistics.sinks.first?.drops == [.rateLimited: UInt64(50 - names.count)])
    }

    @Test(
        "An interval out of range is refused by the API and in a URI",
        arguments: [Duration.zero, .milliseconds(-5), .microseconds(999), .seconds(86_401), .seconds(Int64.max)])
    func intervals(interval: Duration) {
        let configuration = StillSinkConfiguration(.jpeg, pattern: "{n}.jpg", taking: .every(interval))
        let error = #expect(throws: InletError.self) { try configuration.validate() }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("1ms to 24h") == true)
        #expect(throws: InletError.self) {
            try configuration.makeSink().start(
                VideoFormat(size: Self.size, timeBase: Rational(1, 25), colorSpace: .bt601), SinkContext())
        }
        _ = configuration.makeSink().wants
    }

    @Test("Placeholders of an outage are skipped")
    func placeholders() throws {
        let folder = try TemporaryFolder()
        let frames = try frames(3) { $0 == 1 ? [] : [.placeholder] }
        try write(frames, to: StillSinkConfiguration(.jpeg, pattern: folder.path("{sequence}")))
        #expect(try files(folder) == ["1"])
    }

    @Test("An existing file is kept unless it may be overwritten, and no partial file remains")
    func overwriting() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.jpg")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        let frames = try frames(2)
        var configuration = StillSinkConfiguration(.jpeg, pattern: path)
        let error = #expect(throws: InletError.self) { try write(frames, to: configuration) }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("overwrite=true") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("mine".utf8))
        #expect(try files(folder) == ["a.jpg"])
        configuration.overwrites = true
        try write(frames, to: configuration)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).starts(with: [0xFF, 0xD8]))
        #expect(try files(folder) == ["a.jpg"])
        let missing = #expect(throws: InletError.self) {
            try write(frames, to: StillSinkConfiguration(.png, pattern: folder.path("gone/a.png")))
        }
        #expect(missing?.code == .notFound)
    }

    @Test("A restarted process continues to count and overwrites nothing")
    func restarted() throws {
        let folder = try TemporaryFolder()
        let frames = try frames(2)
        for _ in 0..<2 {
            try write(frames, to: StillSinkConfiguration(.jpeg, pattern: folder.path("{n:1}.jpg")))
            try write(frames, to: StillSinkConfiguration(.jpeg, pattern: folder.path("s{sequence}.jpg")))
        }
        #expect(
            try files(folder) == (1...4).map { "\($0).jpg" } + ["s0-2.jpg", "s0.jpg", "s1-2.jpg", "s1.jpg"])
        // Numbers always continue; repeated names are replaced if requested.
        for pattern in ["{n:1}.jpg", "s{sequence}.jpg"] {
            var configuration = StillSinkConfiguration(.jpeg, pattern: folder.path(pattern))
            configuration.overwrites = true
            try write(frames, to: configuration)
        }
        #expect(try files(folder).count == 10)
    }

    @Test("Two sinks with one pattern at a time share its numbers, and neither overwrites the other's files")
    func together() async throws {
        let folder = try TemporaryFolder()
        let frames = try frames(20)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for format in StillSinkConfiguration.Format.allCases {
                group.addTask { try write(frames, to: StillSinkConfiguration(format, pattern: folder.path("{n:2}"))) }
            }
            try await group.waitForAll()
        }
        #expect(try files(folder).count == 40)
        let kinds = try files(folder).map { try Data(contentsOf: URL(fileURLWithPath: folder.path($0))).first }
        #expect(kinds.count { $0 == 0xFF } == 20 && kinds.count { $0 == 0x89 } == 20)
    }

    @Test("A constant name is refused for more than one still, before anything is opened")
    func refusals() throws {
        var registry = PluginRegistry()
        registry.register(.jpeg)
        registry.register(.png)
        for uri in [
            "jpeg:a.jpg?every=1s", "png:a.png?take=all", "jpeg:a.jpg?take=key", "jpeg:", "jpeg:a/", "jpeg:{what}.jpg",
            "jpeg:{date}.jpg?every=1s", "png:{n}/a.png",
        ] {
            let error = #expect(throws: InletError.self) { try registry.sink(uri) }
            #expect(error?.code == .invalidConfiguration, "\(uri)")
        }
        for uri in ["jpeg:a-{n}.jpg?every=1s", "png:a.png?take=all&overwrite=true", "jpeg:a.jpg"] {
            #expect(throws: Never.self) { try registry.sink(uri) }
        }
        let error = #expect(throws: InletError.self) { try registry.sink("jpeg:{n}?quality=101") }
        #expect(error?.message.contains("1 to 100") == true)
        #expect(throws: InletError.self) { try registry.sink("jpeg:{n}?every=1s&take=all") }
    }

    @Test("A contact sheet has the pictures in rows, and black in unused places")
    func contactSheet() throws {
        var sheet = try ContactSheet(columns: 2, rows: 2, tile: ImageSize(width: 41, height: 31))
        for level in [UInt8(60), 120, 180] {
            var draft = try I420Draft(
                size: level == 120 ? ImageSize(width: 20, height: 30) : ImageSize(width: 41, height: 31))
            draft.fill(y: level, u: level, v: 128)
            sheet.add(
                VideoFrame(
                    buffer: draft.publish(), timestamp: MonotonicTime(nanoseconds: 0), sequence: 0, colorSpace: .bt601))
        }
        let picture = sheet.finish()
        #expect(picture.size == ImageSize(width: 80, height: 60))
        func luma(_ x: Int, _ y: Int) -> UInt8 { picture.row(y, of: .y)[x] }
        #expect(
            [luma(0, 0), luma(39, 29), luma(40, 0), luma(49, 0), luma(50, 0), luma(69, 29), luma(70, 0)] == [
                60, 60, 16, 16, 120, 120, 16,
            ])
        #expect([luma(0, 30), luma(39, 59), luma(40, 30), luma(79, 59)] == [180, 180, 16, 16])
        #expect(
            [picture.row(0, of: .u)[0], picture.row(0, of: .u)[25], picture.row(29, of: .u)[39]] == [60, 120, 128])
        #expect(throws: InletError.self) {
            _ = try ContactSheet(columns: 65, rows: 1, tile: ImageSize(width: 2, height: 2))
        }
    }
}
