import Foundation
import InletCore
import InletTesting
import Logging
import PatternSource
import ReferenceTools
import Testing

@Suite(.blocking) struct TimecodeReaderTests {
    /// The first pictures of a timecode pattern, packed one after another.
    private func pictures(_ size: ImageSize, frames: UInt64, rate: Rational = Rational(30)) throws -> [I420Buffer] {
        let configuration = PatternConfiguration(
            .timecode, size: size, frameRate: rate, frames: frames, pace: .unpaced, buffers: 512)
        let context = SourceContext(clock: ManualClock(), logger: Logger(label: "test"))
        let source = configuration.makeSource()
        _ = try source.open(context)
        var result: [I420Buffer] = []
        while let frame = try source.next(context)?.frame { result.append(try #require(frame.owner as? I420Buffer)) }
        return result
    }

    /// The timecode of each picture of a file, scaled and converted by FFmpeg.
    private func read(_ arguments: [String], size: ImageSize) throws -> [Timecode?] {
        let bytes = try ReferenceCommand.ffmpeg(arguments + ["-pix_fmt", "yuv420p", "-f", "rawvideo", "-"])
        let pictures = ReferencePictures(bytes, size: size)
        return try (0..<pictures.count).map { TimecodeReader.read(try pictures.packed($0)) }
    }

    private func expected(_ frames: Int, rate: Rational = Rational(30)) -> [Timecode?] {
        (0..<frames).map { number in
            let pts = MediaTime(ticks: Int64(number), timeBase: rate.reciprocal ?? Rational(1))
            return Timecode(frame: UInt32(number), captureTime: MonotonicTime(nanoseconds: pts.nanoseconds))
        }
    }

    private func write(_ pictures: [I420Buffer], to path: String) throws {
        var bytes = Data()
        for picture in pictures { bytes.append(picture.packedBytes) }
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    @Test(
        "a drawn timecode is read, in any size",
        arguments: [(64, 64), (65, 67), (640, 480), (1280, 720), (1921, 1081), (8192, 64), (64, 2049)])
    func roundTrip(width: Int, height: Int) throws {
        let size = ImageSize(width: width, height: height)
        #expect(try pictures(size, frames: 3).map(TimecodeReader.read) == expected(3))
    }

    @Test("every frame is read after H.264 at 200 kbit/s", arguments: ["ultrafast", "medium"])
    func compression(preset: String) throws {
        let folder = try TemporaryFolder()
        let size = ImageSize(width: 640, height: 480)
        try write(try pictures(size, frames: 150), to: folder.path("in.yuv"))
        try ReferenceCommand.ffmpeg([
            "-f", "rawvideo", "-video_size", "\(size)", "-framerate", "30", "-pix_fmt", "yuv420p", "-i",
            folder.path("in.yuv"), "-c:v", "libx264", "-preset", preset, "-b:v", "200k", "-maxrate", "200k", "-bufsize",
            "200k", folder.path("out.mp4"),
        ])
        let length = try Data(contentsOf: URL(fileURLWithPath: folder.path("out.mp4"))).count
        #expect(length < 5 * 200_000 / 8 * 13 / 10, "\(length) bytes for five seconds")
        #expect(try read(["-i", folder.path("out.mp4")], size: size) == expected(150))
    }

    @Test(
        "every frame is read after scaling and changes of range and contrast",
        arguments: [
            ("scale=640:360", 640, 360), ("scale=640:360,scale=320:180", 320, 180),
            ("scale=320:180:flags=neighbor", 320, 180), ("scale=160:90:flags=fast_bilinear", 160, 90),
            ("scale=1919:1079", 1919, 1079), ("scale=in_range=limited:out_range=full", 1280, 720),
            ("scale=in_range=full:out_range=limited", 1280, 720), ("lut=y=90+val/4", 1280, 720),
            ("gblur=sigma=8", 1280, 720),
        ])
    func scaling(filter: String, width: Int, height: Int) throws {
        let folder = try TemporaryFolder()
        let size = ImageSize(width: 1280, height: 720)
        try write(try pictures(size, frames: 12), to: folder.path("in.yuv"))
        let codes = try read(
            [
                "-f", "rawvideo", "-video_size", "\(size)", "-pix_fmt", "yuv420p", "-i", folder.path("in.yuv"), "-vf",
                filter,
            ], size: ImageSize(width: width, height: height))
        #expect(codes == expected(12))
    }

    @Test("a picture without a code, or with one bit wrong, gives nothing")
    func rejection() throws {
        let size = ImageSize(width: 128, height: 128)
        #expect(
            TimecodeReader.read(try ReferencePictures(lavfi: "testsrc=size=128x128", size: size, frames: 1).packed(0))
                == nil)
        var black = try I420Draft(size: size)
        black.fillBlack()
        #expect(TimecodeReader.read(black.publish()) == nil)
        var tiny = try I420Draft(size: ImageSize(width: 15, height: 15))
        tiny.fillBlack()
        #expect(TimecodeReader.read(tiny.publish()) == nil)

        let good = ReferencePictures(try #require(try pictures(size, frames: 1).first).packedBytes, size: size)
        for (column, row) in [(0, 1), (15, 1), (7, 4), (0, 7), (15, 8)] {
            var bytes = good.bytes
            for y in TimecodeLayout.pixels(row, of: 128) {
                for x in TimecodeLayout.pixels(column, of: 128) { bytes[y * 128 + x] = 251 - bytes[y * 128 + x] }
            }
            #expect(TimecodeReader.read(try ReferencePictures(bytes, size: size).packed(0)) == nil)
        }
    }

    @Test("the blocks keep their positions, so that recordings remain readable")
    func layout() throws {
        // Python: struct.pack(">Iq", 3, 100_000_000), zlib.crc32 of that, in bits.
        let expected = """
            .#.#.#.#.#.#.#.#
            ................
            ..............##
            ................
            ................
            .....#.#####.#.#
            ###....#........
            #......####.##..
            .####..#....###.
            """
        let size = ImageSize(width: 160, height: 160)
        let picture = try #require(try pictures(size, frames: 4).last)
        let rows = (0..<9).map { row in
            let pixels = picture.row(row * 10 + 5, of: .y)
            return String((0..<16).map { pixels[$0 * 10 + 5] > 128 ? "#" : "." })
        }
        #expect(rows.joined(separator: "\n") == expected)
    }

    @Test("the checksum is the usual CRC-32")
    func checksum() throws {
        // Python: zlib.crc32(struct.pack(">Iq", 0x01020304, 0x0506070809))
        let timecode = Timecode(frame: 0x0102_0304, captureTime: MonotonicTime(nanoseconds: 0x05_0607_0809))
        #expect(UInt32(truncatingIfNeeded: timecode.code) == 0x57062D4B)
        #expect(Timecode(code: timecode.code) == timecode)
        #expect(Timecode(code: timecode.code ^ 1) == nil)
    }
}
