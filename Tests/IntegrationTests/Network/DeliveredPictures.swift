import Foundation
import ReferenceTools

/// The MD5s of a stream's pictures, as `ffmpeg` and `inlet` decode them.
enum DeliveredPictures {
    /// The MD5 of each picture of a file, as the `ffmpeg` command decodes it.
    static func expected(_ path: String) throws -> [String] {
        FrameSums.sums(of: try ReferenceCommand.ffmpeg(["-i", path, "-map", "0:v:0", "-f", "framemd5", "-"]))
    }

    /// The MD5s that `inlet run` delivers from a source.
    static func delivered(
        _ uri: String, environment: [String: String] = [:]
    ) throws -> (hashes: [String], inlet: InletProcess) {
        let inlet = try InletProcess.run(
            ["run", uri, "--retry", "never", "--to", "framemd5:-"], environment: environment)
        return (FrameSums.sums(of: inlet.output), inlet)
    }
}
