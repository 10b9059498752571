import Foundation
import ReferenceTools
import Synchronization
import Testing

/// A short Matroska file that servers send unchanged, and the `ffmpeg` command's decoding of it.
struct CodecClip {
    /// The codec of a clip.
    enum Codec: String, Sendable, CaseIterable { case h264, h265, mjpeg, vp8, vp9, mpeg4 }

    let path: String
    /// The MD5 of each picture, in the order of presentation.
    let sums: [String]

    private static let folder = Result { try TemporaryFolder() }
    private static let made = Mutex<[Codec: CodecClip]>([:])

    /// The clip of a codec, made when it is first requested.
    static func of(_ codec: Codec) throws -> CodecClip {
        try made.withLock { clips in
            if let clip = clips[codec] { return clip }
            let clip = try CodecClip(codec, in: folder.get())
            clips[codec] = clip
            return clip
        }
    }

    private init(_ codec: Codec, in folder: TemporaryFolder) throws {
        path = folder.path("\(codec).mkv")
        // The clip has reordered pictures, and pictures that are never shown, if the codec supports them.
        let encoder: [String] =
            switch codec {
            case .h264: ["-c:v", "libx264", "-bf", "2"]
            case .h265: ["-c:v", "libx265", "-x265-params", "log-level=error:keyint=8:bframes=2"]
            // RFC 2435 has only the standard Huffman tables.
            case .mjpeg: ["-c:v", "mjpeg", "-huffman", "default", "-q:v", "4"]
            case .vp8: ["-c:v", "libvpx", "-auto-alt-ref", "1", "-lag-in-frames", "8"]
            case .vp9: ["-c:v", "libvpx-vp9", "-cpu-used", "5", "-auto-alt-ref", "1", "-lag-in-frames", "8"]
            case .mpeg4: ["-c:v", "mpeg4", "-bf", "2"]
            }
        let format = codec == .mjpeg ? "yuvj420p" : "yuv420p"
        try ReferenceCommand.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v", "40", "-pix_fmt", format]
                + encoder + ["-g", "8", "-b:v", "2M", path])
        sums = try FrameLines.ffmpeg(path, pixelFormat: format).lines.map(\.md5)
        // Otherwise a wrong picture could be mistaken for another one.
        try #require(sums.count == 40 && Set(sums).count == 40)
    }
}
