import FFmpegSink
import Foundation
import InletCore
import ReferenceTools
import Testing

/// Every codec in every container, played by VLC.
@Suite(.tags(.server), .fewAtATime) struct PlayerTests {
    @Test(
        "VLC plays every codec in every container, and decodes it as FFmpeg does",
        .enabled(if: VLCPlayer.missing == nil, "\(VLCPlayer.missing ?? "")"))
    func vlc() throws {
        let folder = try TemporaryFolder()
        let input = try Recording.pictures(count: 40)
        let paths = try FormatTests.cases.map { each in
            let path = folder.path("\(each.codec).\(each.container.rawValue)")
            var color = ColorSpace.bt601
            if each.codec == .mjpeg { color.range = .full }
            // VLC runs as another user.
            try Recording.write(
                input, to: "\(each.container.rawValue):\(path)?codec=\(each.codec)&mode=644", color: color)
            return path
        }
        for (each, (path, played)) in zip(FormatTests.cases, zip(paths, try VLCPlayer.play(paths))) {
            let decoded = try Recording.decoded(path, size: input.size)
            let expected = pictures(decoded.bytes, input.size)
            // VLC regards Motion JPEG in MP4 as stills, which it decodes through RGB.
            let isExact = each.codec != .mjpeg || each.container != .mp4
            let shown =
                isExact
                ? pictures(played, input.size).map { expected.firstIndex(of: $0) }
                : nearest(ReferencePictures(played, size: input.size), in: decoded)
            // When it writes to a file, VLC leaves a picture out, or repeats one, to keep its own clock.
            #expect(Set(shown).count >= 25, "\(each.testDescription): \(shown)")
            #expect(shown.allSatisfy { $0 != nil }, "\(each.testDescription): \(shown)")
            #expect(zip(shown, shown.dropFirst()).allSatisfy { ($0 ?? 0) <= ($1 ?? 0) }, "\(each.testDescription)")
        }
    }

    @Test(
        "VLC plays HLS, with H.264 in MPEG-TS and with HEVC in MP4, and decodes it as FFmpeg does",
        .enabled(if: VLCPlayer.missing == nil, "\(VLCPlayer.missing ?? "")"),
        arguments: [VideoCodec.h264, .hevc])
    func segments(_ codec: VideoCodec) throws {
        let folder = try TemporaryFolder()
        let input = try Recording.pictures(count: 90)
        // VLC runs as another user.
        try Recording.write(
            input, to: "hls:\(folder.path("live"))?codec=\(codec)&segment=1s&gop=1s&playlist=0&mode=644")
        let playlist = folder.path("live/index.m3u8")
        let expected = pictures(try Recording.decoded(playlist, size: input.size).bytes, input.size)
        #expect(expected.count == 90)
        let shown = pictures(try #require(VLCPlayer.play([playlist]).first), input.size)
            .map { expected.firstIndex(of: $0) }
        // As above, VLC leaves some pictures out; no segment is missing.
        #expect(Set(shown).count >= 60, "\(shown)")
        #expect(shown.allSatisfy { $0 != nil }, "\(shown)")
        #expect(zip(shown, shown.dropFirst()).allSatisfy { ($0 ?? 0) <= ($1 ?? 0) }, "\(shown)")
        #expect((shown.last ?? nil) ?? 0 >= 60, "\(shown)")
    }

    /// The number of the most similar picture for each picture; nil if none is closer than 30 dB.
    private func nearest(_ shown: ReferencePictures, in decoded: ReferencePictures) -> [Int?] {
        let size = shown.size
        return pictures(shown.bytes, size).map { picture in
            pictures(decoded.bytes, size).firstIndex { other in
                let sum = zip(picture, other).reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
                return 10 * log10(255 * 255 * Double(picture.count) / Double(max(sum, 1))) > 30
            }
        }
    }

    private func pictures(_ bytes: Data, _ size: ImageSize) -> [Data] {
        let count = size.packedI420ByteCount
        return (0..<bytes.count / count).map { Data(bytes.dropFirst($0 * count).prefix(count)) }
    }
}
