import FFmpegSink
import Foundation
import InletCore
import ReferenceTools
import Testing

/// The index of complete MP4 files, as FFmpeg reads it.
@Suite(.tags(.encoder), .blocking) struct MovieIndexTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    struct Kind: Sendable, CustomTestStringConvertible {
        var name: String
        var codec = VideoCodec.h264
        var options: [String]
        var frames = 150
        var rate = 30

        var testDescription: String { name }

        /// With the given options, and without those that x264 would decide itself.
        static func h264(_ name: String, _ options: String, frames: Int = 150, rate: Int = 30) -> Kind {
            Kind(
                name: name, options: ["-c:v", "libx264", "-x264-params", "scenecut=0:\(options)"], frames: frames,
                rate: rate)
        }
    }

    static let kinds = [
        Kind.h264("closed groups with B-frames", "keyint=15:min-keyint=15:bframes=3"),
        Kind.h264("open groups", "keyint=30:min-keyint=30:bframes=2:open-gop=1"),
        Kind.h264("no B-frames", "keyint=7:min-keyint=7:bframes=0"),
        Kind.h264("key frames only", "keyint=1"),
        Kind.h264("one picture", "bframes=0", frames: 1),
        Kind.h264("a B-frame at the end", "bframes=2:b-adapt=0", frames: 3),
        Kind.h264("2000 pictures a second", "bframes=2", frames: 37, rate: 2000),
        Kind(
            name: "HEVC with open groups", codec: .hevc,
            options: [
                "-c:v", "libx265", "-x265-params",
                "keyint=30:min-keyint=30:scenecut=0:bframes=2:open-gop=1:log-level=none",
            ]),
    ]

    @Test(
        "A complete recording lists all pictures, with the times and the order that ffmpeg gives them", arguments: kinds
    )
    func complete(_ kind: Kind) throws {
        let clip = try CopiedClip(kind.codec, kind.options, frames: kind.frames, rate: kind.rate, in: folder)
        let path = folder.path("a.mp4")
        try clip.write(to: FFmpegPacketSink(FFmpegOutput(.mp4, to: path)))
        #expect(Self.boxes(try Data(contentsOf: URL(fileURLWithPath: path))) == ["ftyp", "mdat", "moov"])
        // Only an index has the number of pictures.
        #expect(try Recording.probe(path, "stream=nb_frames") == ["\(kind.frames)"])
        let entries = "packet=pts_time,dts_time,duration_time,size,flags"
        #expect(try Recording.probe(path, entries) == Recording.probe(clip.path, entries))
        let whole = try pictures(clip.path, from: nil)
        #expect(try pictures(path, from: nil) == whole)
        #expect(whole.count == kind.frames)
        for index in [1, 40, 77, kind.frames - 1] where index < kind.frames {
            let time = Double(index) / Double(kind.rate)
            #expect(try pictures(path, from: time) == pictures(clip.path, from: time), "from \(time) s")
        }
    }

    @Test("A complete recording states when its first picture was taken, by the source's clock")
    func date() throws {
        let kind = Self.kinds[0]
        var clip = try CopiedClip(kind.codec, kind.options, frames: 60, in: folder)
        // 2023-11-14T22:13:20.377Z, which is known from the second group on.
        let first = try #require(clip.packets.map(\.captureTime.nanoseconds).min())
        for index in clip.packets.indices.dropFirst(14) {
            clip.packets[index].wallClock =
                1_700_000_000_377_000_000 + clip.packets[index].captureTime.nanoseconds - first
        }
        let path = folder.path("a.mp4")
        try clip.write(to: FFmpegPacketSink(FFmpegOutput(.mp4, to: path)))
        let date = try Recording.probe(path, "format_tags=com.apple.quicktime.creationdate")
        #expect(date == ["2023-11-14T22:13:20.377Z"])
        #expect(try pictures(path, from: nil) == pictures(clip.path, from: nil))
    }

    @Test("A recording that was cut before its index counts plays to the cut")
    func cut() throws {
        let kind = Self.kinds[0]
        let clip = try CopiedClip(kind.codec, kind.options, frames: kind.frames, in: folder)
        let path = folder.path("a.mp4")
        let sink = try FFmpegPacketSink(FFmpegOutput(.mp4, to: path))
        try sink.start(clip.parameters)
        for packet in clip.packets { try sink.write(packet) }
        let cut = try Data(contentsOf: URL(fileURLWithPath: path))
        try sink.finish()
        let complete = try Data(contentsOf: URL(fileURLWithPath: path))
        let expected = try pictures(clip.path, from: nil)
        let unfinished = cut.prefix(200) + complete.dropFirst(200)
        for (name, bytes) in [("before the end", cut), ("before the header", unfinished)] {
            try bytes.write(to: URL(fileURLWithPath: folder.path("cut.mp4")))
            let found = try pictures(folder.path("cut.mp4"), from: nil)
            #expect(found.count >= kind.frames - 8 && found == Array(expected.prefix(found.count)), "\(name)")
        }
        #expect(Self.boxes(cut).prefix(3) == ["ftyp", "moov", "moof"])
    }

    private struct Picture: Equatable {
        var time: Double
        var sum: Substring
    }

    /// The pictures of a file from a position on, as the ffmpeg command decodes them.
    private func pictures(_ path: String, from time: Double?) throws -> [Picture] {
        let position = time.map { ["-ss", String(format: "%.6f", $0)] } ?? []
        let output = try ReferenceCommand.ffmpeg(
            ["-copyts"] + position + ["-i", path, "-fps_mode", "passthrough", "-enc_time_base", "1/90000"]
                + ["-f", "framemd5", "-"])
        return String(decoding: output, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { line in
                let fields = line.split(separator: ",").map { $0.drop { $0 == " " } }
                guard fields.count == 6, let ticks = Double(fields[2]) else { return nil }
                return Picture(time: ticks / 90_000, sum: fields[5])
            }
    }

    /// The names of a file's outermost boxes.
    private static func boxes(_ file: Data) -> [String] {
        var names: [String] = []
        var rest = [UInt8](file)[...]
        while rest.count >= 8 {
            names.append(String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self))
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8 else { break }
            rest = rest.dropFirst(size)
        }
        return names
    }
}
