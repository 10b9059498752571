import Foundation
import ReferenceTools
import Testing

/// A short MP4 file that gst-rtsp-server sends unchanged, and the `ffmpeg` command's decoding of it.
struct TunnelClip {
    let path: String
    /// The MD5 of each picture.
    let sums: [String]

    private static let made = Result { try TunnelClip(folder: TemporaryFolder()) }
    private let folder: TemporaryFolder

    /// The clip, made when it is first requested.
    static func get() throws -> TunnelClip { try made.get() }

    private init(folder: TemporaryFolder) throws {
        self.folder = folder
        path = folder.path("clip.mp4")
        try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=50", "-frames:v", "40", "-pix_fmt", "yuv420p", "-c:v",
            "libx264", "-tune", "zerolatency", "-threads", "1", "-g", "8", "-b:v", "3M", path,
        ])
        sums = try FrameLines.ffmpeg(path).lines.map(\.md5)
        // Otherwise a wrong picture could be mistaken for another one.
        try #require(sums.count == 40 && Set(sums).count == 40)
    }

    /// Starts a server that sends the clip once to each client.
    func server(
        _ authentication: RTSPServer.Authentication = .none, isTLS: Bool = false, password: String = "secret"
    ) throws -> RTSPServer {
        var options = RTSPServer.Options()
        options.file = path
        options.authentication = authentication
        options.isTLS = isTLS
        options.password = password
        return try RTSPServer(options)
    }
}
