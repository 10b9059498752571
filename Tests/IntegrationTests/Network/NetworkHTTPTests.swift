import Foundation
import Inlet
import ReferenceTools
import Testing

extension NetworkTests {
    /// Files and HLS over HTTP, with servers and files from other projects.
    @Suite struct NetworkHTTPTests {
        /// A clip with its index at the end, too far from the beginning to be read through.
        private func clip(_ folder: TemporaryFolder) throws -> String {
            let path = folder.path("clip.mp4")
            _ = try ReferenceCommand.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=640x480:rate=25:duration=8", "-c:v", "libx264", "-g", "25", "-b:v",
                "3M",
                "-pix_fmt", "yuv420p", path,
            ])
            return path
        }

        @Test("A recording with its index at the end arrives complete from nginx, by range requests")
        func recording() throws {
            let folder = try TemporaryFolder()
            let path = try clip(folder)
            let server = try NginxServer.http(path)
            let (found, inlet) = try DeliveredPictures.delivered(server.url)
            #expect(try found == DeliveredPictures.expected(path), "\(inlet.complaints)")
            let requests = try server.requests()
            #expect((2...8).contains(requests.count) && requests.allSatisfy { $0.hasSuffix(" 206") }, "\(requests)")
        }

        @Test("HLS arrives complete, also when ffmpeg has encrypted it with AES-128", arguments: [false, true])
        func hls(isEncrypted: Bool) throws {
            let folder = try TemporaryFolder()
            let path = try clip(folder)
            let out = folder.path("hls")
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            var key: [String] = []
            if isEncrypted {
                try Data((0..<16).map { $0 * 7 + 1 }).write(to: URL(fileURLWithPath: "\(out)/stream.key"))
                try Data("stream.key\n\(out)/stream.key\n".utf8).write(to: URL(fileURLWithPath: folder.path("info")))
                key = ["-hls_key_info_file", folder.path("info")]
            }
            _ = try ReferenceCommand.ffmpeg(
                ["-i", path, "-c", "copy", "-f", "hls", "-hls_time", "2", "-hls_list_size", "0"] + key
                    + ["\(out)/index.m3u8"])
            let server = try NginxServer.folder(out)
            let (found, inlet) = try DeliveredPictures.delivered("\(server.playlist)?pace=none")
            #expect(try found == DeliveredPictures.expected(path), "\(inlet.complaints)")
            let requests = try server.requests()
            // The requests: the playlist, four segments and, for encrypted ones, one key.
            #expect(requests.count == (isEncrypted ? 6 : 5), "\(requests)")
        }

        @Test("DASH, which libavformat opens without Inlet, is refused unless it is allowed")
        func dash() throws {
            let folder = try TemporaryFolder()
            let path = try clip(folder)
            let out = folder.path("dash")
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
            _ = try ReferenceCommand.ffmpeg(
                ["-i", path, "-c", "copy", "-f", "dash", "-seg_duration", "2", "\(out)/index.mpd"])
            let server = try NginxServer.folder(out)
            let address = server.playlist.replacing("index.m3u8", with: "index.mpd")
            let refused = try DeliveredPictures.delivered(address).inlet
            #expect(refused.status == 69 && refused.complaints.contains("DASH"), "\(refused.complaints)")
            #expect(try server.requests().count == 1)
            let (found, inlet) = try DeliveredPictures.delivered("\(address)?private-addresses=allow&pace=none")
            #expect(try found == DeliveredPictures.expected(path), "\(inlet.complaints)")
        }

        @Test("User and password are requested once and used for every segment; wrong ones are reported")
        func basic() throws {
            var options = NginxServer.Options(file: try TestClips.path("h264-b.mp4"))
            options.password = "a b/@c"
            let server = try NginxServer(options)
            let address = server.playlist.dropFirst("http://".count)
            let (found, inlet) = try DeliveredPictures.delivered("http://camera:a%20b%2F%40c@\(address)?pace=none")
            #expect(!found.isEmpty, "\(inlet.complaints)")
            #expect(try server.requests().filter { $0.hasSuffix(" 401") }.count == 1)
            let wrong = try DeliveredPictures.delivered("http://camera:wrong@\(address)").inlet
            #expect(wrong.status == 77, "\(wrong.complaints)")
        }

        @Test("User and password are sent by Digest if the server requires it")
        func digest() throws {
            var options = HostileServer.Options()
            options.kind = .digest
            options.file = try TestClips.path("h264-b.mp4")
            let server = try HostileServer(options)
            let (found, inlet) = try DeliveredPictures.delivered(
                "\(server.url("http", "/clip.mp4"))?user=viewer&password=secret")
            #expect(try found == DeliveredPictures.expected(options.file ?? ""), "\(inlet.complaints)")
            #expect(try server.report()["kept"]?.int ?? 0 > 0)
            #expect(
                try DeliveredPictures.delivered("\(server.url("http"))?user=viewer&password=other").inlet.status == 77)
        }

        @Test(
            "A body shorter than its length is an error, after which the rest is requested if so configured"
        )
        func shortBody() throws {
            let folder = try TemporaryFolder()
            var options = HostileServer.Options()
            options.kind = .shortBody
            // The file has no index, so it is read from one end to the other.
            let path = folder.path("clip.ts")
            _ = try ReferenceCommand.ffmpeg(["-i", clip(folder), "-c", "copy", path])
            options.file = path
            let server = try HostileServer(options)
            let (cut, inlet) = try DeliveredPictures.delivered("\(server.url("http"))?pace=none")
            #expect(cut.count < 200 && inlet.complaints.contains("connection was lost"), "\(inlet.complaints)")
            let (whole, other) = try DeliveredPictures.delivered("\(server.url("http"))?pace=none&ffmpeg.reconnect=1")
            #expect(try whole == DeliveredPictures.expected(path), "\(other.complaints)")
        }

        @Test("A redirect loop ends after nine requests")
        func endless() async throws {
            let server = try HostileServer(.redirectEndless)
            let run = try NetworkRun(server.url("http"), frames: 1)
            let error = await #expect(throws: InletError.self) { try await run.play().get() }
            #expect(error?.code == .malformedData && error?.message.contains("redirects endlessly") == true)
            // The first request and eight redirects, over as few connections as possible.
            let report = try server.report()
            guard case .list(let requests) = report["requests"] else {
                Issue.record("the report contains no requests: \(report)")
                return
            }
            #expect(requests.count == 9, "\(requests)")
        }

        @Test("The proxy in the environment is used, except for the hosts that it excludes")
        func proxy() throws {
            var options = HostileServer.Options()
            options.kind = .chunked
            let folder = try TemporaryFolder()
            options.file = folder.path("clip.ts")
            _ = try ReferenceCommand.ffmpeg(["-i", clip(folder), "-c", "copy", options.file ?? ""])
            let server = try HostileServer(options)
            let variables = ["http_proxy": "http://127.0.0.1:\(server.port)", "no_proxy": "other.invalid"]
            let uri = "http://camera.invalid/stream?pace=none"
            let (found, inlet) = try DeliveredPictures.delivered(uri, environment: variables)
            #expect(try found == DeliveredPictures.expected(options.file ?? ""), "\(inlet.complaints)")
            #expect(
                try DeliveredPictures.delivered("http://other.invalid/stream", environment: variables).inlet.status
                    == 68)
        }

        @Test("HTTP options that are not in use are refused, and the others must be numbers")
        func options() {
            for uri in ["http://host/x?ffmpeg.post_data=1", "http://host/x?ffmpeg.offset=a"] {
                let error = #expect(throws: InletError.self) { try PluginRegistry.trusting.source(uri) }
                #expect(error?.code == .invalidConfiguration)
            }
        }
    }
}
