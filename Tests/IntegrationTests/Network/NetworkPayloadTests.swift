import Foundation
import Inlet
import ReferenceTools
import Testing

extension NetworkTests {
    /// The assembly of pictures from RTP, compared with the ffmpeg command's pictures of the same file.
    @Suite struct NetworkPayloadTests {
        /// Encodes a moving picture in several slices to raw H.264 or H.265.
        private func encode(_ codec: RTSPServer.Codec, into folder: TemporaryFolder) throws -> String {
            let path = folder.path("clip.\(codec.rawValue)")
            let encoder =
                codec == .h264
                ? ["-c:v", "libx264", "-tune", "zerolatency", "-slices", "4"]
                : ["-c:v", "libx265", "-tune", "zerolatency", "-x265-params", "slices=2:log-level=error:bframes=0"]
            _ = try ReferenceCommand.ffmpeg(
                ["-f", "lavfi", "-i", "testsrc2=size=640x480:rate=25", "-frames:v", "40", "-pix_fmt", "yuv420p"]
                    + encoder + ["-g", "8", "-b:v", "4M", path])
            return path
        }

        /// The MD5 sums of a file's pictures, from ffmpeg.
        private func reference(_ path: String) throws -> [String] {
            FrameSums.sums(
                of: try ReferenceCommand.ffmpeg([
                    "-i", path, "-f", "framemd5", "-pix_fmt", "yuv420p", "-vsync", "0", "-an", "-",
                ]))
        }

        /// The MD5 sums of the pictures that Inlet delivers from an address.
        private func received(_ address: String, frames: Int) throws -> [String] {
            let folder = try TemporaryFolder()
            _ = try InletProcess.run([
                "run", address, "--retry", "never", "--queue", "lossless", "--frames", "\(frames)", "--to",
                "framemd5:\(folder.path("sums"))",
            ])
            return FrameSums.sums(of: try String(contentsOfFile: folder.path("sums"), encoding: .utf8))
        }

        @Test(
            "Every picture is delivered unchanged, whatever comes between its slices and whatever its times do",
            arguments: [
                (.plain, .h264), (.plain, .h265), (.prefix, .h264), (.report, .h264), (.report, .h265),
            ] as [(PayloadServer.Kind, RTSPServer.Codec)])
        func whole(_ kind: PayloadServer.Kind, _ codec: RTSPServer.Codec) throws {
            let folder = try TemporaryFolder()
            let clip = try encode(codec, into: folder)
            let server = try PayloadServer(kind, file: clip, codec: codec)
            // The last picture is not known to be complete, because no packet follows it.
            let expected = try reference(clip).dropLast()
            #expect(try received(server.url, frames: expected.count) == Array(expected))
        }

        @Test(
            "An incomplete or interrupted picture is never shown",
            arguments: [PayloadServer.Kind.gap, .death], [RTSPServer.Codec.h264, .h265])
        func broken(_ kind: PayloadServer.Kind, _ codec: RTSPServer.Codec) throws {
            let folder = try TemporaryFolder()
            let clip = try encode(codec, into: folder)
            let server = try PayloadServer(kind, file: clip, codec: codec)
            let expected = try reference(clip)
            let got = try received(server.url, frames: 100)
            #expect(Set(got).subtracting(expected) == [])
            // One picture of five is left out, and with it all pictures until the next of five key frames.
            #expect(got.count >= (kind == .death ? 39 : 5) && got.count < expected.count)
        }

        @Test(
            "A flat picture with identical packets is not treated as a duplicate",
            .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"), arguments: ["tcp", "udp"])
        func flat(_ transport: String) throws {
            let folder = try TemporaryFolder()
            let clip = folder.path("flat.mp4")
            _ = try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "color=blue:size=1920x1080:rate=25", "-frames:v", "20", "-pix_fmt", "yuv420p",
                "-c:v", "libx264", "-profile:v", "baseline", "-preset", "ultrafast", "-g", "5", clip,
            ])
            let server = try RTSPServer.file(clip)
            let expected = Array(try reference(clip).prefix(18))
            #expect(try received("\(server.url)?transport=\(transport)", frames: 18) == expected)
        }
    }
}
