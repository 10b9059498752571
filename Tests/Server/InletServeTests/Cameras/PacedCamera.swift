import Foundation
import ReferenceTools

/// A camera that states no times of day: an RTSP server (paced-server.py) that sends a clip with 20 pictures and a key
/// frame a second, again and again.
final class PacedCamera {
    let url: String
    private let process = Process()

    init(in folder: TemporaryFolder) throws {
        let (clip, port) = (folder.path("clip.h264"), try FreePort.find())
        _ = try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=20", "-t", "10", "-c:v", "libx264", "-bf", "0", "-g", "20",
            clip,
        ])
        url = "rtsp://127.0.0.1:\(port)/0"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = ["-B", PeerProcess.path("paced-server.py"), clip, "--rate", "20", "--port", "\(port)"]
        process.standardOutput = FileHandle.nullDevice
        try process.runUnblocked()
    }

    deinit { kill(process.processIdentifier, SIGKILL) }
}
