import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Transport streams over RTP by third-party servers.
    @Suite struct TransportServerTests {
        /// Makes a clip of 60 pictures with B-frames, encoded by one of ffmpeg's encoders.
        private static func clip(_ encoder: String, in folder: TemporaryFolder) throws -> String {
            let path = folder.path("clip.mp4")
            var encoder = ["-c:v", encoder, "-bf", "2"]
            if encoder[1] == "libx265" { encoder += ["-tag:v", "hvc1", "-x265-params", "log-level=error"] }
            try ReferenceCommand.ffmpeg(
                [
                    "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=50", "-frames:v", "60", "-pix_fmt", "yuv420p",
                    "-threads", "1", "-g", "8", "-b:v", "2M",
                ] + encoder + [path])
            return path
        }

        @Test(
            "Every picture of GStreamer's transport stream arrives as in the file",
            arguments: [RTSPServer.Codec.h264, .h265], [RTSPConfiguration.Transport.tcp, .udp])
        func gstreamer(_ codec: RTSPServer.Codec, _ transport: RTSPConfiguration.Transport) async throws {
            let folder = try TemporaryFolder()
            var options = RTSPServer.Options()
            options.file = try Self.clip(codec == .h264 ? "libx264" : "libx265", in: folder)
            options.isTransportStream = true
            let sums = try FrameLines.ffmpeg(try #require(options.file)).lines.map(\.md5)
            try #require(sums.count == 60 && Set(sums).count == 60)
            let server = try RTSPServer(options)
            let run = SourceRun(.test(server.url) { $0.transport = transport })
            var pictures: [String] = []
            let dropped = UDPCounters.dropped
            _ = try await run.open()
            do {
                while let frame = try await run.next()?.frame { pictures.append(SourceRun.sum(of: frame)) }
            } catch let error as InletError {
                // The server says goodbye after the last picture.
                #expect(error.code == .streamEnded, "\(error)")
            }
            try await run.close()
            // UDP loses packets on a busy machine, but the pictures are never wrong.
            #expect(pictures == sums || UDPCounters.dropped > dropped, "\(pictures.count) \(run.log.text)")
            #expect(pictures.allSatisfy { sums.contains($0) })
        }

        @Test(
            "VLC's transport stream is read, and no picture of it is wrong or missing",
            .enabled(if: VLCServer.missing == nil, "\(VLCServer.missing ?? "")"),
            arguments: ["libx264", "mpeg2video", "mpeg4"])
        func vlc(_ encoder: String) async throws {
            let folder = try TemporaryFolder()
            let path = try Self.clip(encoder, in: folder)
            let sums = try FrameLines.ffmpeg(path).lines.map(\.md5)
            let server = try VLCServer(file: path, isTransportStream: true)
            let dropped = UDPCounters.dropped
            let run = SourceRun(.test(server.url) { $0.transport = .udp })
            let pictures = try await run.pictures(120)
            let places = pictures.map { sums.firstIndex(of: $0) }
            #expect(places.count == 120 && !places.contains(nil), "\(places) \(run.log.text)")
            // The clip is repeated endlessly.
            let isWhole = zip(places, places.dropFirst()).allSatisfy { ($0 ?? 0) + 1 == $1 || ($0, $1) == (59, 0) }
            #expect(isWhole || UDPCounters.dropped > dropped, "\(places)")
        }
    }
}
