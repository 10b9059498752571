import FFmpegSink
import Foundation
import InletCore
import ReferenceTools
import Testing

/// Streams that a viewer may join at any key frame.
@Suite(.tags(.encoder), .blocking) struct JoiningTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A clip whose groups of pictures are open: only its first picture is an IDR picture.
    private func openGroups(_ codec: VideoCodec) throws -> CopiedClip {
        let group = "keyint=30:min-keyint=30:scenecut=0:bframes=2"
        return try CopiedClip(
            codec,
            codec == .h264
                ? ["-c:v", "libx264", "-x264-params", "\(group):open-gop=1"]
                : ["-c:v", "libx265", "-x265-params", "\(group):open-gop=1:log-level=none"],
            frames: 120, in: folder)
    }

    /// Checks that files decode by themselves to pictures of the clip, except for pictures that refer to the file
    /// before.
    private func expectPictures(_ paths: [String], of clip: CopiedClip, _ reference: ReferencePictures) throws {
        let all = Set(pictures(reference))
        for (index, path) in paths.enumerated() {
            let decoded = pictures(try Recording.decoded(path, size: clip.parameters.size))
            #expect(decoded.count >= (index == 0 ? 28 : 26), "\(path) has \(decoded.count)")
            #expect(decoded.allSatisfy(all.contains), "\(path) has other pictures")
        }
    }

    private func pictures(_ all: ReferencePictures) -> [Data] {
        let count = all.size.packedI420ByteCount
        return (0..<all.count).map { all.bytes.subdata(in: $0 * count..<($0 + 1) * count) }
    }

    @Test(
        "Each segment of a stream with open groups of pictures begins with parameter sets",
        arguments: [VideoCodec.h264, .hevc])
    func segments(_ codec: VideoCodec) throws {
        let clip = try openGroups(codec)
        try #require(clip.packets.count { $0.isKey } == 4)
        let reference = try Recording.decoded(clip.path, size: clip.parameters.size)
        var output = FFmpegOutput(.ts, to: folder.path("a-{n}.ts"))
        output.segment = .seconds(1)
        try clip.write(to: FFmpegPacketSink(output))
        try expectPictures((1...4).map { folder.path("a-00000\($0).ts") }, of: clip, reference)

        // HLS segments with HEVC are not MPEG-TS.
        guard codec == .h264 else { return }
        var live = FFmpegOutput(.hls, to: folder.path("live"))
        live.segment = .seconds(1)
        live.playlistLength = 0
        try clip.write(to: FFmpegPacketSink(live))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("live")).sorted()
            .filter { $0.hasSuffix(".ts") }
        #expect(names.count == 4)
        try expectPictures(names.map { folder.path("live/\($0)") }, of: clip, reference)
    }

    @Test(
        "A viewer that joins a transport stream later sees pictures from the next key frame on",
        arguments: [VideoCodec.h264, .hevc], [FFmpegContainer.srt, .udp])
    func late(_ codec: VideoCodec, _ container: FFmpegContainer) async throws {
        let clip = try openGroups(codec)
        let port = try FreePort.find()
        let address = "\(container.rawValue)://127.0.0.1:\(port)"
        let stream: Data
        if container == .srt {
            let peer = try SRTTransmitter("\(address)?mode=listener", to: folder.path("whole.ts"))
            defer { peer.stop() }
            try await peer.listens(at: port)
            try clip.write(to: FFmpegPacketSink(FFmpegOutput(container, to: address)))
            try #require(peer.waitForEnd(), "\(peer.log)")
            stream = try Data(contentsOf: URL(fileURLWithPath: peer.path))
        } else {
            let receiver = try DatagramReceiver(port: port)
            try clip.write(to: FFmpegPacketSink(FFmpegOutput(container, to: address)))
            stream = receiver.received()
        }
        // Packets of MPEG-TS have 188 bytes.
        let count = stream.count / 188
        try #require(count > 300)
        let joined = folder.path("joined.ts")
        try stream.dropFirst(count * 2 / 5 * 188).write(to: URL(fileURLWithPath: joined))
        let reference = try Recording.decoded(clip.path, size: clip.parameters.size)
        let all = Set(pictures(reference))
        let decoded = pictures(try Recording.decoded(joined, size: clip.parameters.size))
        // Two of four groups, of which ffmpeg leaves out pictures that refer to what it has not.
        #expect(decoded.count >= 56, "\(decoded.count)")
        #expect(decoded.suffix(56).allSatisfy(all.contains))
    }

    @Test(
        "No picture of a stream with open groups of pictures is lost between two files",
        arguments: [VideoCodec.h264, .hevc], ["mp4", "mkv"])
    func files(_ codec: VideoCodec, _ container: String) throws {
        let clip = try openGroups(codec)
        let reference = try Recording.decoded(clip.path, size: clip.parameters.size)
        let kind = try #require(FFmpegContainer(rawValue: container))
        var output = FFmpegOutput(kind, to: folder.path("a-{n}.\(container)"))
        output.segment = .seconds(1)
        try clip.write(to: FFmpegPacketSink(output))
        let paths = (1...4).map { folder.path("a-00000\($0).\(container)") }
        let decoded = try paths.map { pictures(try Recording.decoded($0, size: clip.parameters.size)) }
        #expect(Set(decoded.joined()) == Set(pictures(reference)))
        // Each key frame after the first may be in two files.
        #expect((120...123).contains(decoded.reduce(0) { $0 + $1.count }))
        for (index, path) in paths.enumerated() {
            let times = try Recording.times(path)
            #expect(times == times.sorted() && (index == 0 || times.first == 0), "\(path): \(times)")
        }
    }
}
