import FFmpegSink
import Foundation
import InletCore
import ReferenceTools
import Testing

/// Consecutive files: when they end, their names, and which are kept.
@Suite(.tags(.encoder), .blocking) struct SegmentTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted()
    }

    @Test(
        "Files end at their length to the picture, and none is lost between them",
        arguments: [
            "mp4", "mkv", "ts", "mp4?preset=balanced",
        ])
    func byTime(_ scheme: String) throws {
        let parts = scheme.split(separator: "?")
        let pictures = try Recording.pictures(count: 75)
        let more = parts.count > 1 ? "&\(parts[1])" : ""
        try Recording.write(
            pictures, to: "\(parts[0]):\(folder.path("a-{n}.\(parts[0])"))?segment=1s\(more)")
        #expect(try names() == (1...3).map { "a-00000\($0).\(parts[0])" })
        let counts = try names().map { try Recording.times(folder.path($0)).count }
        #expect(counts.reduce(0, +) == 75)
        // An encoder that looks ahead makes its key frame a few pictures later.
        if parts.count == 1 { #expect(counts == [30, 30, 15]) }
        for name in try names() {
            let first = try Recording.probe(folder.path(name), "packet=flags").first
            #expect(first?.hasPrefix("K") == true)
            if parts[0] != "ts" { #expect(try Recording.times(folder.path(name)).first == 0) }
        }
    }

    @Test("Key frames that are microseconds early end files of their interval all the same")
    func earlyKeyFrames() throws {
        let encoder = FFmpegVideoEncoder()
        let pictures = try Recording.pictures(count: 120)
        let parameters = try encoder.open(
            Recording.format(pictures.size), EncoderSettings(codec: .h264, keyFrameInterval: .seconds(100)))
        var output = FFmpegOutput(.mkv, to: folder.path("a-{n}.mkv"))
        output.segment = .seconds(1)
        let sink = try FFmpegPacketSink(output)
        try sink.start(parameters)
        for index in 0..<pictures.count {
            // A camera with a fast clock: each key frame is a little earlier than its second.
            let time = Double(index) / 30 * 0.9999
            let frame = try Recording.frame(pictures.padded(index), index, at: time)
            for packet in try encoder.encode(frame, wantsKeyFrame: index % 30 == 0) { try sink.write(packet) }
        }
        try sink.finish()
        #expect(try names().map { try Recording.times(folder.path($0)).count } == [30, 30, 30, 30])
    }

    @Test("Files end at their size, and numbers continue from the existing files")
    func bySize() throws {
        let uri = "mkv:\(folder.path("{n}.mkv"))?codec=ffv1&segment-size=20k"
        try Recording.write(Recording.pictures(count: 20), to: uri)
        let first = try names()
        try #require(first.count > 2)
        let sizes = try first.dropLast().map { try SinkFile.size(folder.path($0)) }
        #expect(sizes.allSatisfy { $0 >= 20_000 && $0 < 32_000 }, "\(sizes)")
        try Recording.write(Recording.pictures(count: 1), to: uri)
        #expect(try names().count == first.count + 1)
        #expect(try names().last == "\(String(format: "%06d", first.count + 1)).mkv")
    }

    @Test("The oldest files are deleted while there are too many bytes, and no other file of the folder")
    func retention() throws {
        try Data(repeating: 1, count: 1_000_000).write(to: URL(fileURLWithPath: folder.path("other.mkv")))
        try Data(repeating: 1, count: 1_000_000).write(to: URL(fileURLWithPath: folder.path("a-1x.mkv")))
        let uri = "mkv:\(folder.path("a-{n}.mkv"))?codec=ffv1&segment-size=20k&keep-size=60k"
        try Recording.write(Recording.pictures(count: 40), to: uri)
        let left = try names().filter { $0.hasPrefix("a-0") }
        let total = try left.reduce(0) { try $0 + SinkFile.size(folder.path($1)) }
        // The open file is in addition to the kept ones.
        #expect(total > 40_000 && total < 90_000)
        #expect(left.first != "a-000001.mkv")
        #expect(try names().contains("other.mkv") && names().contains("a-1x.mkv"))
        for name in left { #expect(try !Recording.times(folder.path(name)).isEmpty) }
    }

    @Test("A change of size begins a new file next to the first, which an earlier run's does not disturb")
    func sizeChange() throws {
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder.path("out.mp4")))
        let small = try Recording.pictures(count: 4)
        let large = try Recording.pictures(ImageSize(width: 200, height: 150), count: 5)
        let sink = try Recording.registry.sink("mp4:\(folder.path("out.mp4"))").makeSink()
        try sink.start(Recording.format(small.size), SinkContext())
        for index in 0..<4 { try sink.consume(Recording.frame(small.padded(index), index, at: Double(index) / 30)) }
        for index in 0..<5 {
            try sink.consume(Recording.frame(large.padded(index), 4 + index, at: Double(4 + index) / 30))
        }
        try sink.finish()
        #expect(try names() == ["out-2.mp4", "out.mp4"])
        #expect(try Recording.times(folder.path("out.mp4")).count == 4)
        #expect(try Recording.probe(folder.path("out-2.mp4"), "stream=width,height").first == "200,150")
        #expect(try Recording.times(folder.path("out-2.mp4")).count == 5)
    }

    @Test("A sink restarted by its configuration does not overwrite the files of the one before")
    func restart() throws {
        let configuration = try Recording.registry.sink("mp4:\(folder.path("out.mp4"))")
        let pictures = try Recording.pictures(count: 3)
        for _ in 0..<2 {
            let sink = configuration.makeSink()
            try sink.start(Recording.format(pictures.size), SinkContext())
            for index in 0..<3 {
                try sink.consume(Recording.frame(pictures.padded(index), index, at: Double(index) / 30))
            }
            try sink.finish()
        }
        #expect(try names() == ["out-2.mp4", "out.mp4"])
    }

    @Test("HLS: a playlist of complete segments, with the old ones deleted")
    func hls() throws {
        let live = folder.path("live")
        try Recording.write(Recording.pictures(count: 400), to: "hls:\(live)?segment=1s&playlist=3&gop=1s")
        let playlist = try String(contentsOfFile: "\(live)/index.m3u8", encoding: .utf8)
        #expect(playlist.components(separatedBy: "#EXTINF").count - 1 == 3)
        // RFC 8216, 6.2.2: a segment removed from the playlist is kept for its own length plus the playlist's.
        let segments = try FileManager.default.contentsOfDirectory(atPath: live).filter { $0.hasSuffix(".ts") }
        #expect((3 + 4...3 + 5).contains(segments.count), "\(segments)")
        #expect(try Recording.times("\(live)/index.m3u8").count == 30 + 30 + 10)
    }
}

/// Properties of files.
enum SinkFile {
    static func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }
}
