public import Foundation

/// VLC without a screen. It plays files in sequence.
public struct VLCPlayer {
    /// The reason why VLC cannot run here; nil if it can.
    public static let missing = PeerProcess.missing(programs: ["cvlc"])

    /// Plays files and returns the pictures that VLC decoded.
    ///
    /// - Parameter paths: files with different names; a name that contains `mjpeg` means full range.
    /// - Returns: for each file, its 4:2:0 pictures in sequence; empty if VLC decoded none.
    /// - Throws: ``ReferenceCommand/Failure``.
    public static func play(_ paths: [String]) throws -> [Data] {
        let folder = try TemporaryFolder()
        let script = PeerProcess.folder.appendingPathComponent("vlc-player.py").path
        try ReferenceCommand.run("/usr/bin/python3", ["-B", script, folder.path("")] + paths)
        return paths.map { path in
            let name = URL(fileURLWithPath: path).lastPathComponent
            return (try? Data(contentsOf: URL(fileURLWithPath: folder.path(name + ".raw")))) ?? Data()
        }
    }
}
