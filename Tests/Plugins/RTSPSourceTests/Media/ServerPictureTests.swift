import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Files sent by third-party servers and muxers, compared picture for picture with the `ffmpeg` command's decoding
    /// of the same file.
    @Suite struct ServerPictureTests {
        /// Reads a stream to its end.
        private func pictures(
            _ url: String, _ transport: RTSPConfiguration.Transport
        ) async throws -> (sums: [String], log: String) {
            let run = SourceRun(.test(url) { $0.transport = transport })
            var sums: [String] = []
            do {
                _ = try await run.open()
                while let frame = try await run.next()?.frame { sums.append(SourceRun.sum(of: frame)) }
            } catch let error as InletError {
                // The server has nothing more.
                #expect([.streamEnded, .disconnected].contains(error.code), "\(transport): \(error)")
            }
            try await run.close()
            return (sums, run.log.text)
        }

        /// Reads the streams of a server over several transports at once.
        private func expectPictures(
            of clip: CodecClip, _ url: String, _ transports: [RTSPConfiguration.Transport], _ server: PeerProcess
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for transport in transports {
                    group.addTask {
                        let (sums, log) = try await pictures(url, transport)
                        #expect(sums == clip.sums, "\(transport): \(log) \(server.log)")
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test(
            "Every picture of libavformat's muxer arrives as in the file",
            arguments: CodecClip.Codec.allCases)
        func libavformat(_ codec: CodecClip.Codec) async throws {
            let clip = try CodecClip.of(codec)
            let server = try RTSPRelay(file: clip.path)
            try await expectPictures(of: clip, server.url, [.tcp, .udp], server.process)
        }

        @Test(
            "Every picture of gst-rtsp-server arrives as in the file",
            .enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"),
            arguments: CodecClip.Codec.allCases)
        func gstreamer(_ codec: CodecClip.Codec) async throws {
            let clip = try CodecClip.of(codec)
            let server = try RTSPServer.file(clip.path)
            try await expectPictures(of: clip, server.url, [.tcp, .udp, .http], server.process)
        }

        @Test(
            "Every picture of VLC arrives as in the file",
            .enabled(if: VLCServer.missing == nil, "\(VLCServer.missing ?? "")"),
            arguments: CodecClip.Codec.allCases.filter { $0 != .vp9 })
        func vlc(_ codec: CodecClip.Codec) async throws {
            let clip = try CodecClip.of(codec)
            let server = try VLCServer(file: clip.path)
            let run = SourceRun(.test(server.url) { $0.transport = .udp })
            _ = try await run.open()
            var places: [Int?] = []
            while places.count < clip.sums.count, let frame = try await run.next()?.frame {
                places.append(clip.sums.firstIndex(of: SourceRun.sum(of: frame)))
            }
            try await run.close()
            // VLC sends the file repeatedly, and is joined in the middle.
            let first = try #require(places.first ?? nil)
            #expect(places == (first..<first + clip.sums.count).map { $0 % clip.sums.count }, "\(run.log.text)")
        }
    }
}
