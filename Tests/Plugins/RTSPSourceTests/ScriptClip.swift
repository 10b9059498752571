import Foundation
import ReferenceTools
import Testing

/// A raw H.264 file for ``RTSPScript``, and the `ffmpeg` command's decoding of it.
struct ScriptClip {
    let path: String
    /// The MD5 of each picture.
    let sums: [String]

    /// The encoding of a clip.
    enum Kind: Sendable {
        /// Four slices per picture; those of key frames do not fit in a packet.
        case slices
        /// One to eight slices per picture, as an encoder with a limit for slices makes them.
        case varying
        /// One slice per picture, small enough for one packet except for key frames.
        case small
    }

    private static let folder = Result { try TemporaryFolder() }
    private static let slices = Result { try ScriptClip(.slices, folder.get()) }
    private static let varying = Result { try ScriptClip(.varying, folder.get()) }
    private static let small = Result { try ScriptClip(.small, folder.get()) }

    /// The clip of a kind, made when it is first requested.
    static func of(_ kind: Kind) throws -> ScriptClip {
        switch kind {
        case .slices: try slices.get()
        case .varying: try varying.get()
        case .small: try small.get()
        }
    }

    private init(_ kind: Kind, _ folder: TemporaryFolder) throws {
        path = folder.path("\(kind).h264")
        let encoder: [String] =
            switch kind {
            case .slices: ["-slices", "4", "-b:v", "3M"]
            case .varying: ["-crf", "32", "-x264-params", "slice-max-size=700"]
            case .small: ["-crf", "40"]
            }
        try ReferenceCommand.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v", "40", "-pix_fmt", "yuv420p", "-c:v",
                "libx264", "-tune", "zerolatency", "-threads", "1", "-g", "8", "-keyint_min", "8",
            ] + encoder + [path])
        sums = try FrameLines.ffmpeg(path).lines.map(\.md5)
        // Otherwise a wrong picture could be mistaken for another one.
        try #require(sums.count == 40 && Set(sums).count == 40)
    }

    /// The options of a server that sends the clip once.
    var options: RTSPScript.Options {
        var options = RTSPScript.Options(file: path)
        options.pictures = sums.count
        return options
    }

    /// Returns the positions of pictures in the clip; nil for a picture that is not in the clip.
    func places(of pictures: [String]) -> [Int?] { pictures.map { sums.firstIndex(of: $0) } }
}
