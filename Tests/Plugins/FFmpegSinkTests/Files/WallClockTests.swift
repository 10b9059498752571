import FFmpegSink
import Foundation
import InletCore
import ReferenceTools
import Testing

/// The time of day in files, which is that of the pictures.
@Suite(.tags(.encoder), .blocking) struct WallClockTests {
    private let folder: TemporaryFolder
    /// 2001-09-09T01:46:40Z: not this machine's clock.
    private static let base: Int64 = 1_000_000_000_000_000_000

    init() throws { folder = try TemporaryFolder() }

    /// Writes pictures at 30 a second. Their time of day is known from one picture on, or for all except some.
    ///
    /// - Parameter pause: the delay of the pictures from the first with a time of day on, in seconds.
    private static func write(
        _ count: Int, knownFrom known: Int, except unknown: Range<Int> = 0..<0, pause: Double = 0, to uri: String
    ) throws {
        let pictures = try Recording.pictures(count: count)
        let sink = try Recording.registry.sink(uri).makeSink()
        try sink.start(Recording.format(pictures.size), SinkContext())
        for index in 0..<count {
            var frame = try Recording.frame(
                pictures.padded(index), index, at: Double(index) / 30 + (index < known ? 0 : pause))
            if index >= known, !unknown.contains(index) { frame.wallClock = base + Int64(index) * 1_000_000_000 / 30 }
            try sink.consume(frame)
        }
        try sink.finish()
    }

    /// The times of `prft` boxes in seconds since 1970 (ISO/IEC 14496-12, 8.16.5).
    private static func references(_ path: String) throws -> [Double] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        var (times, rest) = ([Double](), data[...])
        while let range = rest.range(of: Data("prft".utf8)) {
            let place = range.upperBound + 8
            let bits = data[place..<place + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            times.append(Double(bits >> 32) - 2_208_988_800 + Double(bits & 0xffff_ffff) / 4_294_967_296)
            rest = data[range.upperBound...]
        }
        return times
    }

    @Test("MP4 fragments have the time of day of their first picture if it is known, and otherwise none")
    func fragments() throws {
        let path = folder.path("known.mp4")
        try Self.write(90, knownFrom: 0, to: "mp4:\(path)?gop=1s")
        let times = try Self.references(path)
        #expect(times.count > 6, "\(times)")
        #expect(times == times.sorted() && times.first.map { abs($0 - 1e9) < 0.002 } == true, "\(times)")
        for time in times {
            let frames = (time - 1e9) * 30
            #expect(abs(frames - frames.rounded()) < 0.06 && frames < 90, "\(time)")
        }
        #expect(try Recording.times(path).count == 90)
        let date = try Recording.probe(path, "format_tags=com.apple.quicktime.creationdate")
        #expect(date == ["2001-09-09T01:46:40.000Z"])

        let other = folder.path("unknown.mp4")
        try Self.write(30, knownFrom: 90, to: "mp4:\(other)")
        #expect(try Self.references(other).isEmpty)
        #expect(try Recording.probe(other, "format_tags=com.apple.quicktime.creationdate").isEmpty)
    }

    @Test("The time of day begins at a key frame with a known time, and continues when the source states none")
    func partlyKnown() throws {
        let path = folder.path("partly.mp4")
        try Self.write(120, knownFrom: 20, except: 50..<100, to: "mp4:\(path)?gop=1s")
        let times = try Self.references(path)
        #expect(times.count > 4 && times == times.sorted(), "\(times)")
        let frames = times.map { ($0 - 1e9) * 30 }
        #expect(frames.allSatisfy { abs($0 - $0.rounded()) < 0.06 && $0 < 120 }, "\(frames)")
        // The second group of pictures is the first that begins with a time.
        #expect(frames.first?.rounded() == 30, "\(frames)")
        #expect(try Recording.times(path).count == 120)
    }

    @Test(
        "The picture with which the time of day begins keeps its own time", arguments: ["", "&preset=archive"],
        [0, 2.5])
    func exactBeginning(preset: String, pause: Double) throws {
        let path = folder.path("exact.mp4")
        try Self.write(100, knownFrom: 40, pause: pause, to: "mp4:\(path)?gop=1s\(preset)")
        #expect(try Self.references(path).isEmpty == false)
        let times = try Recording.times(path).sorted()
        #expect(times.count == 100)
        for (index, time) in times.enumerated() {
            #expect(abs(time - Double(index) / 30 - (index < 40 ? 0 : pause)) < 0.001, "picture \(index): \(time)")
        }
    }

    @Test("HLS segments have the time of day of their first picture, if it is known")
    func segments() throws {
        let live = folder.path("live")
        try Self.write(190, knownFrom: 20, to: "hls:\(live)?segment=1s&playlist=0&gop=1s")
        let playlist = try String(contentsOfFile: "\(live)/index.m3u8", encoding: .utf8)
        #expect(playlist.components(separatedBy: "#EXTINF").count - 1 == 7)
        let dates = playlist.split(separator: "\n").filter { $0.hasPrefix("#EXT-X-PROGRAM-DATE-TIME:") }
            .map { $0.dropFirst("#EXT-X-PROGRAM-DATE-TIME:".count) }
        // It is not known for the first segment.
        #expect(dates == (41...46).map { "2001-09-09T01:46:\($0).000Z" })
        #expect(try Recording.times("\(live)/index.m3u8").count == 190)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path("")).sorted()
    }

    @Test("Files are named by the time of day of their first picture, however late they are written")
    func namesBySource() throws {
        try Self.write(75, knownFrom: 0, to: "mp4:\(folder.path("a-{utc}.mp4"))?segment=1s&gop=1s")
        let names: [String] = try names()
        #expect(names == (40...42).map { "a-20010909T0146\($0).000Z.mp4" })
        for (index, name) in names.enumerated() {
            let first = try #require(try Self.references(folder.path(name)).first)
            #expect(abs(first - 1e9 - Double(index)) < 0.1, "\(name): \(first)")
        }
    }

    @Test("A picture without a time of day names its file by the machine's clock, less the time since it was taken")
    func namesByMachine() throws {
        let encoder = FFmpegVideoEncoder()
        let pictures = try Recording.pictures(count: 1)
        let parameters = try encoder.open(Recording.format(pictures.size), EncoderSettings(codec: .h264))
        let sink = try FFmpegPacketSink(FFmpegOutput(.mp4, to: folder.path("{utc}.mp4")))
        // The times of day between which the picture was taken, three seconds ago.
        let before = Date().timeIntervalSince1970 - 3
        let captured = MonotonicTime(nanoseconds: Int64(DispatchTime.now().uptimeNanoseconds) - 3_000_000_000)
        let after = Date().timeIntervalSince1970 - 3
        try sink.start(parameters)
        let frame = try Recording.frame(pictures.padded(0), 0, at: 0)
        var packet = try #require(encoder.encode(frame, wantsKeyFrame: true).first)
        packet.captureTime = captured
        try sink.write(packet)
        try sink.finish()
        let name = try #require(try names().first)
        let format = DateFormatter()
        format.dateFormat = "yyyyMMdd'T'HHmmss.SSS'Z.mp4'"
        (format.locale, format.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(identifier: "UTC"))
        let time = try #require(format.date(from: name)).timeIntervalSince1970
        #expect(time > before - 0.01 && time < after + 0.01, "\(name)")
    }
}
