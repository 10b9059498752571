import FFmpegSink
import Foundation
import InletCore
import ReferenceTools
import Testing

/// Playlists and segments over restarts, gaps and changes of the stream.
@Suite(.tags(.encoder), .blocking) struct HLSTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var live: String { folder.path("live") }

    private func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: live).sorted() }

    private func playlist() throws -> [String] {
        try String(contentsOfFile: "\(live)/index.m3u8", encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func values(_ tag: String) throws -> [String] {
        try playlist().filter { $0.hasPrefix(tag) }.map { String($0.dropFirst(tag.count)) }
    }

    private func lengths() throws -> [Double] {
        try values("#EXTINF:").compactMap { Double($0.dropLast()) }
    }

    /// The segments in the list.
    private func segments() throws -> [String] { try playlist().filter { !$0.hasPrefix("#") } }

    private func write(
        _ pictures: ReferencePictures, by configuration: any FrameSinkConfiguration, times: [Double]? = nil
    ) throws {
        let sink = configuration.makeSink()
        try sink.start(Recording.format(pictures.size), SinkContext())
        for index in 0..<pictures.count {
            try sink.consume(
                Recording.frame(pictures.padded(index), index, at: times?[index] ?? Double(index) / 30))
        }
        try sink.finish()
    }

    @Test("A later run, and a restarted sink, continue the playlist with new names")
    func restart() throws {
        let pictures = try Recording.pictures(count: 60)
        let uri = "hls:\(live)?segment=1s&playlist=0&gop=1s"
        let configuration = try Recording.registry.sink(uri)
        try write(pictures, by: configuration)
        let first = try segments()
        #expect(first.count == 2)
        try write(pictures, by: configuration)
        try write(pictures, by: Recording.registry.sink(uri))
        let all = try segments()
        try #require(all.count == 6 && Array(all.prefix(2)) == first && Set(all).count == 6, "\(all)")
        #expect(try playlist().count { $0 == "#EXT-X-DISCONTINUITY" } == 2)
        let lines = try playlist()
        let breaks = lines.indices.filter { lines[$0] == "#EXT-X-DISCONTINUITY" }
        let after = breaks.map { index in lines[index...].first { $0.hasPrefix("index") } }
        #expect(after == [all[2], all[4]])
        #expect(try values("#EXT-X-TARGETDURATION:") == ["1"])
        #expect(try values("#EXT-X-ENDLIST").count == 1)
        #expect(try playlist().last == "#EXT-X-ENDLIST")
        #expect(try Recording.times("\(live)/index.m3u8").count == 180)
    }

    @Test("Files of an earlier run are deleted once no player may request them, and other files are kept")
    func leftovers() throws {
        let pictures = try Recording.pictures(count: 150)
        let uri = "hls:\(live)?segment=1s&playlist=2&gop=1s"
        try write(pictures, by: Recording.registry.sink(uri))
        let earlier = try files()
        // A process that was killed leaves segments that its playlist does not list any more, or not yet.
        let leftover = "index1000000077.ts"
        let foreign = ["index77.ts", "index01000000077.ts", "other.ts", "index5.txt", "index1.mp4"]
        for name in foreign + [leftover] {
            try Data([1]).write(to: URL(fileURLWithPath: "\(live)/\(name)"))
        }
        try write(pictures, by: Recording.registry.sink(uri))
        let left = try files()
        #expect(!left.contains(leftover) && Set(left).isSuperset(of: foreign), "\(left)")
        #expect(Set(left).intersection(earlier) == ["index.m3u8"], "\(left)")
        #expect(try segments().count == 2)
        // The numbers of segments continue, and so do those of breaks between them.
        #expect(try values("#EXT-X-DISCONTINUITY-SEQUENCE:") == ["1"])
        #expect(try Recording.times("\(live)/index.m3u8").count == 60)
    }

    @Test("A second sink cannot write into a folder that is in use, even in another process")
    func locked() throws {
        let pictures = try Recording.pictures(count: 30)
        let uri = "hls:\(live)?segment=1s&playlist=0&gop=1s"
        let first = try Recording.registry.sink(uri).makeSink()
        try first.start(Recording.format(pictures.size), SinkContext())
        try first.consume(Recording.frame(pictures.padded(0), 0, at: 0))
        let other = try Recording.registry.sink(uri)
        for _ in 0..<2 {
            let error = #expect(throws: InletError.self) { try write(pictures, by: other) }
            #expect(error?.code == .busy)
        }
        // The lock that another program sees.
        #expect(throws: (any Error).self) { try ReferenceCommand.run("flock", ["--nonblock", live, "true"]) }
        for index in 1..<30 {
            try first.consume(Recording.frame(pictures.padded(index), index, at: Double(index) / 30))
        }
        try first.finish()
        try ReferenceCommand.run("flock", ["--nonblock", live, "true"])
        try write(pictures, by: other)
        #expect(try Recording.times("\(live)/index.m3u8").count == 60)
    }

    @Test("Files of another program's playlist are never deleted")
    func foreignFolder() throws {
        try FileManager.default.createDirectory(atPath: live, withIntermediateDirectories: true)
        let names = (0..<4).map { "index\($0).ts" } + (0..<4).map { "index\(1_700_000_000 + $0).ts" }
        for name in names + ["index1.mp4"] {
            try Data([1]).write(to: URL(fileURLWithPath: "\(live)/\(name)"))
        }
        let text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:1\n"
        try (text + names.suffix(3).map { "#EXTINF:2.0,\n\($0)\n" }.joined())
            .write(toFile: "\(live)/index.m3u8", atomically: true, encoding: .utf8)
        let pictures = try Recording.pictures(count: 150)
        try write(pictures, by: Recording.registry.sink("hls:\(live)?segment=1s&playlist=1&gop=1s"))
        let left = try Set(files())
        #expect(left.isSuperset(of: names + ["index1.mp4"]), "\(left)")
        #expect(try segments().count == 1)
    }

    @Test("A later run with longer segments keeps the earlier ones if all stay listed")
    func longerSegments() throws {
        let pictures = try Recording.pictures(count: 120)
        try write(pictures, by: Recording.registry.sink("hls:\(live)?segment=1s&playlist=0&gop=1s"))
        try write(pictures, by: Recording.registry.sink("hls:\(live)?segment=3s&playlist=0&gop=1s"))
        #expect(try Recording.times("\(live)/index.m3u8").count == 240)
        #expect(try lengths().allSatisfy { $0 < 1.5 })
    }

    @Test("A change of size breaks the stream in the playlist, and does not end it")
    func sizeChange() throws {
        let small = try Recording.pictures(count: 30)
        let large = try Recording.pictures(ImageSize(width: 200, height: 150), count: 30)
        let sink = try Recording.registry.sink("hls:\(live)?segment=1s&playlist=0&gop=1s").makeSink()
        try sink.start(Recording.format(small.size), SinkContext())
        for index in 0..<30 { try sink.consume(Recording.frame(small.padded(index), index, at: Double(index) / 30)) }
        for index in 0..<30 {
            try sink.consume(Recording.frame(large.padded(index), 30 + index, at: 1 + Double(index) / 30))
            #expect(try values("#EXT-X-ENDLIST").isEmpty)
        }
        try sink.finish()
        #expect(try playlist().count { $0 == "#EXT-X-DISCONTINUITY" } == 1)
        let sizes = try segments().map { try Recording.probe("\(live)/\($0)", "stream=width,height").first }
        #expect(sizes == ["160,120", "200,150"])
        #expect(try values("#EXT-X-ENDLIST").count == 1)
    }

    @Test("A gap ends a segment, and no segment is longer than the target", arguments: ["h264", "hevc"])
    func gap(_ codec: String) throws {
        let pictures = try Recording.pictures(count: 150)
        let times = (0..<150).map { Double($0) / 30 + ($0 >= 70 ? 20 : 0) }
        let uri = "hls:\(live)?segment=1s&playlist=0&gop=1s&codec=\(codec)"
        try write(pictures, by: Recording.registry.sink(uri), times: times)
        #expect(try values("#EXT-X-TARGETDURATION:") == ["1"])
        let lengths = try lengths()
        #expect(lengths.allSatisfy { $0 < 1.5 } && abs(lengths.reduce(0, +) - 5) < 0.1, "\(lengths)")
        #expect(try playlist().count { $0 == "#EXT-X-DISCONTINUITY" } == 1)
        #expect(try Recording.times("\(live)/index.m3u8").count == 150)
    }

    @Test("HEVC is in fragments of MP4 that Apple's players accept, before and after a restart")
    func hevc() throws {
        let pictures = try Recording.pictures(count: 75)
        let uri = "hls:\(live)?segment=1s&playlist=0&gop=1s&codec=hevc"
        try write(pictures, by: Recording.registry.sink(uri))
        let maps = try values("#EXT-X-MAP:URI=").map { $0.trimmingCharacters(in: ["\""]) }
        try #require(maps.count == 1)
        let fragments = try segments()
        try #require(fragments.count == 3 && fragments.allSatisfy { $0.hasSuffix(".m4s") })
        #expect(try Recording.probe("\(live)/\(maps[0])", "stream=codec_tag_string") == ["hvc1"])
        // Each segment is played after its map, as a player that begins with it does.
        for (index, name) in try segments().enumerated() {
            let bytes = try [maps[0], name].map { try Data(contentsOf: URL(fileURLWithPath: "\(live)/\($0)")) }
            let path = folder.path("part.mp4")
            try (bytes[0] + bytes[1]).write(to: URL(fileURLWithPath: path))
            let times = try Recording.times(path)
            #expect(times.count == [30, 30, 15][index])
            #expect(abs((times.first ?? -1) - Double(index)) < 0.2, "\(name): \(times)")
        }
        try write(pictures, by: Recording.registry.sink(uri))
        #expect(try values("#EXT-X-MAP:URI=").count == 2)
        #expect(try Recording.times("\(live)/index.m3u8").count == 150)
    }
}
