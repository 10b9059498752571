import FFmpegSink
import Foundation
import InletCore
import InletTesting
import ReferenceTools
import Testing

/// Every codec in every container, read back by the ffmpeg command.
@Suite(.tags(.encoder), .blocking) struct FormatTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var container: FFmpegContainer
        var codec: VideoCodec
        var testDescription: String { "\(codec) in \(container.rawValue)" }
    }

    static let cases: [Case] = [FFmpegContainer.mp4, .mkv, .webm, .ts].flatMap { container in
        container.codecs.filter(FFmpegVideoEncoder.codecs.contains).map { Case(container: container, codec: $0) }
    }

    @Test("This build has every codec, so that all are tested")
    func codecs() {
        #expect(Set(FFmpegVideoEncoder.codecs) == [.h264, .hevc, .vp8, .vp9, .av1, .mjpeg, .ffv1])
    }

    @Test(
        "A recording decodes to the same pictures at the same times", arguments: cases,
        [
            EncoderSettings.Preset.realtime, .balanced,
        ])
    func decodes(_ each: Case, _ preset: EncoderSettings.Preset) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out.\(each.container.rawValue)")
        let input = try Recording.pictures()
        let times = Recording.varyingTimes(input.count)
        // JPEG is full range: samples of a limited-range picture would change.
        var color = ColorSpace.bt601
        if each.codec == .mjpeg { color.range = .full }
        let quality = each.codec == .ffv1 ? "" : "&quality=80"
        try Recording.write(
            input, to: "\(each.container.rawValue):\(path)?codec=\(each.codec)&preset=\(preset.rawValue)\(quality)",
            times: times, color: color)

        #expect(try Recording.probe(path, "stream=codec_name").first == each.codec.rawValue)
        let output = try Recording.decoded(path, size: input.size)
        try #require(output.count == input.count)
        for index in 0..<input.count {
            let decibels = Recording.decibels(input, output, index)
            #expect(each.codec == .ffv1 ? decibels == .infinity : decibels > 32, "picture \(index)")
        }
        let shown = try Recording.times(path)
        try #require(shown.count == times.count)
        // Matroska counts milliseconds; an MPEG transport stream may begin at any time.
        let tick = [.mkv, .webm].contains(each.container) ? 0.000_501 : 0.000_007
        let start = each.container == .ts ? shown[0] : 0
        for (shown, time) in zip(shown, times) { #expect(abs(shown - start - time) <= tick) }
    }

    @Test("Odd sizes are recorded, at most without their last column and row", arguments: FFmpegVideoEncoder.codecs)
    func oddSizes(_ codec: VideoCodec) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out.mkv")
        let size = ImageSize(width: 131, height: 97)
        let input = try Recording.pictures(size, count: 5)
        try Recording.write(input, to: "mkv:\(path)?codec=\(codec)")
        let keepsAll = [.vp8, .vp9, .mjpeg, .ffv1].contains(codec)
        #expect(try Recording.probe(path, "stream=width,height").first == (keepsAll ? "131,97" : "130,96"))
        #expect(try Recording.times(path).count == 5)
    }

    @Test("Sinks keep the contract", arguments: ["mp4", "mkv", "ts"])
    func conformance(_ scheme: String) async throws {
        let folder = try TemporaryFolder()
        var conformance = SinkConformance()
        conformance.unusable = try Recording.registry.sink("\(scheme):\(folder.path("none"))/out.\(scheme)")
        let violations = try await conformance.check {
            try Recording.registry.sink("\(scheme):\(folder.path(UUID().uuidString)).\(scheme)")
        }
        #expect(violations == [])
    }

    @Test(
        "MP4 states the rotation of a picture that is stored on its side",
        arguments: [
            (Rotation.clockwise90, -90), (.clockwise180, -180), (.clockwise270, 90),
        ])
    func rotation(_ rotation: Rotation, _ shown: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out.mp4")
        try Recording.write(Recording.pictures(count: 3), to: "mp4:\(path)", rotation: rotation)
        let found = try Recording.probe(path, "stream_side_data=rotation").last.flatMap { Int($0) }
        #expect(found.map { ($0 + 360) % 360 } == (shown + 360) % 360)
    }

    @Test("Containers that cannot state a rotation get upright pictures")
    func uprightWants() throws {
        #expect(try Recording.registry.sink("mkv:out.mkv").makeSink().wants.rotation == .applied)
        #expect(try Recording.registry.sink("mp4:out.mp4").makeSink().wants.rotation == .metadata)
    }
}
