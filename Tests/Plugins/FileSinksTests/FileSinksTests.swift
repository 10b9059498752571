import FileSinks
import Foundation
import InletCore
import InletTesting
import ReferenceTools
import Testing

/// Compares the output of the sinks byte for byte with FFmpeg's for the same pictures.
@Suite(.blocking) struct FileSinksTests {
    static let sizes = [
        ImageSize(width: 322, height: 241), ImageSize(width: 128, height: 96), ImageSize(width: 17, height: 1),
    ]

    /// Pictures from FFmpeg, and their file.
    private func reference(_ size: ImageSize, _ folder: TemporaryFolder) throws -> (ReferencePictures, input: [String])
    {
        let path = folder.path("reference.yuv")
        // scale, because testsrc2 cannot draw every size.
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30000/1001,scale=\(size.width):\(size.height)",
            "-frames:v", "7",
            "-pix_fmt", "yuv420p", "-f", "rawvideo", path,
        ])
        let input = [
            "-f", "rawvideo", "-pix_fmt", "yuv420p", "-video_size", "\(size)", "-framerate", "30000/1001", "-i", path,
        ]
        return (ReferencePictures(try SinkRun.contents(path), size: size), input)
    }

    private func pictures(_ reference: ReferencePictures, padded: Bool) throws -> [I420Buffer] {
        try (0..<reference.count).map { try padded ? reference.padded($0) : reference.packed($0) }
    }

    @Test("i420 writes the planes like rawvideo", arguments: sizes, [true, false])
    func i420(size: ImageSize, padded: Bool) throws {
        let folder = try TemporaryFolder()
        let (reference, _) = try reference(size, folder)
        let path = folder.path("out.yuv")
        try SinkRun.write(
            pictures(reference, padded: padded), to: I420SinkConfiguration(path: path), format: SinkRun.format(size))
        #expect(try SinkRun.contents(path).isSame(as: reference.bytes))
    }

    @Test("y4m writes the same as FFmpeg's yuv4mpegpipe", arguments: sizes, [true, false])
    func y4m(size: ImageSize, padded: Bool) throws {
        let folder = try TemporaryFolder()
        let (reference, input) = try reference(size, folder)
        let path = folder.path("out.y4m")
        try SinkRun.write(
            pictures(reference, padded: padded), to: Y4MSinkConfiguration(path: path), format: SinkRun.format(size))
        let theirs = try ReferenceCommand.ffmpeg(
            input + ["-vf", "setsar=1", "-color_range", "tv", "-f", "yuv4mpegpipe", "-"])
        #expect(try SinkRun.contents(path).isSame(as: theirs))
        // FFmpeg reads the same pictures from it as from the original.
        #expect(
            try ReferenceCommand.ffmpeg(["-i", path, "-f", "framemd5", "-"])
                == ReferenceCommand.ffmpeg(input + ["-vf", "setsar=1", "-f", "framemd5", "-"]))
    }

    @Test(
        "the y4m header states range, rate and pixel shape like FFmpeg's",
        arguments: [
            (ColorRange.full, Rational(25), Rational(16, 11)), (.limited, Rational(30000, 1001), Rational(1)),
            (.unspecified, Rational(1, 2), nil),
        ] as [(ColorRange, Rational, Rational?)])
    func y4mHeader(range: ColorRange, rate: Rational, aspect: Rational?) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out.y4m")
        let size = ImageSize(width: 16, height: 16)
        try SinkRun.write(
            [], to: Y4MSinkConfiguration(path: path),
            format: SinkRun.format(size, rate: rate, timeBase: Rational(1, 1000), range: range, aspect: aspect))
        let theirs = try ReferenceCommand.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=size=16x16:rate=\(rate),setsar=\(aspect.map { "\($0)" } ?? "0")",
                "-frames:v", "1", "-pix_fmt", "yuv420p",
            ] + (range == .unspecified ? [] : ["-color_range", range.rawValue]) + ["-f", "yuv4mpegpipe", "-"])
        let header = theirs.prefix { $0 != UInt8(ascii: "\n") } + [UInt8(ascii: "\n")]
        #expect(try String(decoding: SinkRun.contents(path), as: UTF8.self) == String(decoding: header, as: UTF8.self))
    }

    @Test("without a stated rate the y4m header has the inverse of the time base")
    func y4mWithoutRate() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out.y4m")
        try SinkRun.write(
            [], to: Y4MSinkConfiguration(path: path),
            format: SinkRun.format(ImageSize(width: 4, height: 2), rate: nil, timeBase: Rational(1, 90000)))
        #expect(try String(decoding: SinkRun.contents(path), as: UTF8.self).contains(" W4 H2 F90000:1 Ip "))
    }

    @Test("framemd5 writes the same lines as FFmpeg's framemd5", arguments: sizes, [true, false])
    func framemd5(size: ImageSize, padded: Bool) throws {
        let folder = try TemporaryFolder()
        let (reference, input) = try reference(size, folder)
        let path = folder.path("out.framemd5")
        try SinkRun.write(
            pictures(reference, padded: padded), to: FrameMD5SinkConfiguration(path: path),
            format: SinkRun.format(size))
        let theirs = try ReferenceCommand.ffmpeg(input + ["-vf", "setsar=1", "-f", "framemd5", "-"])
        #expect(try lines(SinkRun.contents(path)) == lines(theirs))
    }

    @Test("framemd5 keeps times that are far apart, negative, or in another time base")
    func framemd5Times() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out.framemd5")
        let size = ImageSize(width: 16, height: 16)
        let sink = FrameMD5SinkConfiguration(path: path).makeSink()
        let timeBase = Rational(1, 90000)
        try sink.start(SinkRun.format(size, timeBase: timeBase), SinkContext())
        let times = [-7, 0, 3003, 123_456_789_012]
        for ticks in times {
            try sink.consume(SinkRun.frame(SinkRun.gray(size), ticks, timeBase: timeBase))
        }
        var other = try SinkRun.frame(SinkRun.gray(size), 2, timeBase: Rational(1, 30))
        try sink.consume(other)
        other.duration = nil
        try sink.consume(other)
        try sink.finish()
        let fields = try lines(SinkRun.contents(path)).filter { !$0.hasPrefix("#") }.map {
            $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(fields.map { $0[2] } == times.map { "\($0)" } + ["6000", "6000"])
        #expect(fields.map { $0[3] } == ["1", "1", "1", "1", "3000", "0"])
    }

    @Test("framemd5 counts frames without a PTS from the first one")
    func framemd5WithoutPTS() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out.framemd5")
        let size = ImageSize(width: 16, height: 16)
        let sink = FrameMD5SinkConfiguration(path: path).makeSink()
        try sink.start(SinkRun.format(size, timeBase: Rational(1, 1000)), SinkContext())
        for milliseconds in [5000, 5040, 5081] as [Int64] {
            var frame = try SinkRun.frame(SinkRun.gray(size), 0)
            frame.pts = nil
            frame.timestamp = MonotonicTime(nanoseconds: milliseconds * 1_000_000)
            try sink.consume(frame)
        }
        try sink.finish()
        let times = try lines(SinkRun.contents(path)).filter { !$0.hasPrefix("#") }.map {
            $0.split(separator: ",")[2].trimmingCharacters(in: .whitespaces)
        }
        #expect(times == ["0", "40", "81"])
    }

    /// Lines, except the one that names the program.
    private func lines(_ data: Data) -> [String] {
        String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("#software") }
    }

    @Test("a change of size is refused if the file has one size, and otherwise accepted")
    func sizeChange() throws {
        let folder = try TemporaryFolder()
        let small = ImageSize(width: 16, height: 16)
        let pictures = try [SinkRun.gray(small), SinkRun.gray(ImageSize(width: 32, height: 16))]
        for configuration: any FrameSinkConfiguration in [
            I420SinkConfiguration(path: folder.path("a")), Y4MSinkConfiguration(path: folder.path("b")),
        ] {
            let error = #expect(throws: InletError.self) {
                try SinkRun.write(pictures, to: configuration, format: SinkRun.format(small))
            }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains("--size 16x16") == true)
            #expect(error?.context.sequence == 1)
        }
        try SinkRun.write(pictures, to: NullSinkConfiguration(), format: SinkRun.format(small))
        let path = folder.path("c")
        try SinkRun.write(pictures, to: FrameMD5SinkConfiguration(path: path), format: SinkRun.format(small))
        let sizes = try lines(SinkRun.contents(path)).filter { !$0.hasPrefix("#") }.map {
            $0.split(separator: ",")[4].trimmingCharacters(in: .whitespaces)
        }
        #expect(sizes == ["384", "768"])
    }

    @Test("every sink keeps the sink contract")
    func conformance() async throws {
        let folder = try TemporaryFolder()
        var suite = SinkConformance()
        #expect(await suite.check { NullSinkConfiguration() } == [])
        for make: @Sendable (String) -> any FrameSinkConfiguration in [
            { I420SinkConfiguration(path: $0) }, { Y4MSinkConfiguration(path: $0) },
            { FrameMD5SinkConfiguration(path: $0) },
        ] {
            suite.unusable = make(folder.path("missing/out"))
            #expect(await suite.check { make(folder.path(UUID().uuidString)) } == [])
        }
    }

    @Test("a URI names the sink and its path")
    func parsing() throws {
        var registry = PluginRegistry()
        for plugin in [SinkPlugin.null, .i420, .y4m, .framemd5] { registry.register(plugin) }
        #expect(try registry.sink("null:") as? NullSinkConfiguration == NullSinkConfiguration())
        #expect(try registry.sink("i420:a b.yuv") as? I420SinkConfiguration == I420SinkConfiguration(path: "a b.yuv"))
        #expect(try registry.sink("y4m:-") as? Y4MSinkConfiguration == Y4MSinkConfiguration(path: "-"))
        #expect(
            try registry.sink("framemd5:/x%3Fy") as? FrameMD5SinkConfiguration
                == FrameMD5SinkConfiguration(path: "/x?y"))
        for wrong in ["null:x", "i420:", "y4m:", "framemd5:", "y4m:x?rate=3"] {
            let error = #expect(throws: InletError.self) { try registry.sink(wrong) }
            #expect(error?.code == .invalidConfiguration)
        }
    }
}
