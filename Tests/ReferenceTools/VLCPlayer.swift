public import Foundation

/// VLC without a screen, which plays files one after another.
public struct VLCPlayer {
    /// Why it cannot run here; nil where it can.
    public static let missing = PeerProcess.missing(programs: ["cvlc"])

    /// Plays files, and hands out what VLC decoded.
    ///
    /// - Parameter paths: files whose names differ; a name with `mjpeg` in it is one of full range.
    /// - Returns: for each file the 4:2:0 pictures, one after another; nothing where VLC decoded none.
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
