import FFmpegSink
import Foundation
import InletCore
import ReferenceTools
import Testing

/// Recordings of a source that was absent for a time.
@Suite(.tags(.encoder), .blocking) struct GapTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(
        "Pictures after a gap of hours or days are at their capture times, and none is lost",
        arguments: ["mp4", "mp4?preset=balanced", "mp4?codec=vp9", "mkv"],
        [3600, 6 * 3600, 7 * 3600, 14 * 3600, 90 * 86_400])
    func gap(_ kind: String, _ seconds: Int) throws {
        let parts = kind.split(separator: "?")
        let pictures = try Recording.pictures(count: 60)
        // A fragment that has only begun, and a gap right after the first picture.
        let times = (0..<60).map { (index: Int) -> Double in
            let gaps = index > 20 ? 2 : index > 0 ? 1 : 0
            return Double(index) / 30 + Double(seconds * gaps)
        }
        let path = folder.path("gap.\(parts[0])")
        try Recording.write(
            pictures, to: "\(parts[0]):\(path)" + (parts.count > 1 ? "?\(parts[1])" : ""), times: times)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).count == 1)
        let read = try Recording.times(path)
        try #require(read.count == times.count)
        let worst = zip(times, read).map { abs($0 - $1) }.max() ?? 1
        #expect(worst < 0.001, "\(worst) s")
        let length = try Recording.probe(path, "format=duration").first ?? ""
        #expect(abs((Double(length) ?? 0) - times[59] - 1.0 / 30) < 0.05)
    }

    @Test("A packet with an endless duration does not end the process")
    func longDuration() throws {
        // In nanoseconds 31 bits last for two seconds.
        let timeBase = Rational(1, 1_000_000_000)
        let path = folder.path("long.mp4")
        let encoder = FFmpegVideoEncoder()
        let pictures = try Recording.pictures(count: 40)
        var parameters = try encoder.open(Recording.format(pictures.size), EncoderSettings(codec: .h264))
        parameters.timeBase = timeBase
        let sink = try FFmpegPacketSink(FFmpegOutput(.mp4, to: path))
        try sink.start(parameters)
        for index in 0..<pictures.count {
            let frame = try Recording.frame(pictures.padded(index), index, at: Double(index) * 3)
            for var packet in try encoder.encode(frame, wantsKeyFrame: false) {
                (packet.pts, packet.dts) = (packet.pts.rescaled(to: timeBase), packet.dts.rescaled(to: timeBase))
                packet.duration = MediaTime(ticks: 3600, timeBase: Rational(1))
                try sink.write(packet)
            }
        }
        try sink.finish()
        #expect(try Recording.times(path) == (0..<40).map { Double($0) * 3 })
    }
}
