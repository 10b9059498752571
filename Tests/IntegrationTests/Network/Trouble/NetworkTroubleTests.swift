import Foundation
import Inlet
import ReferenceTools
import Testing

extension NetworkTests {
    /// Each failure has its own code and a helpful message.
    @Suite struct NetworkTroubleTests {
        private func failure(of uri: String) async throws -> InletError? {
            let run = try NetworkRun(uri, frames: 1)
            guard case .failure(let error) = try await run.play() else { return nil }
            return error
        }

        @Test(
            "Each refusal of a server has its own code",
            arguments: [
                (.unauthorized, .authenticationFailed), (.unauthorizedBasic, .authenticationFailed),
                (.forbidden, .authenticationFailed), (.notFound, .notFound), (.sessionNotFound, .sessionLost),
                (.unavailable, .serverUnavailable),
            ] as [(HostileServer.Kind, InletError.Code)])
        func status(_ kind: HostileServer.Kind, _ code: InletError.Code) async throws {
            let server = try HostileServer(kind)
            for scheme in ["rtsp", "http"] {
                let error = try await failure(of: server.url(scheme))
                #expect(error?.code == code, "\(scheme): \(error.map { "\($0)" } ?? "nothing")")
            }
        }

        @Test("A closed port, an unknown host and a server that closes have different errors")
        func connection() async throws {
            let server = try HostileServer(.close)
            let closed = try await failure(of: server.url("rtsp"))
            #expect([.streamEnded, .disconnected].contains(closed?.code), "\(closed.map { "\($0)" } ?? "")")
            for path in ["/stream", "/clip.mp4", "/index.m3u8"] {
                let closed = try await failure(of: server.url("http", path))
                #expect([.streamEnded, .disconnected].contains(closed?.code), "\(closed.map { "\($0)" } ?? "")")
            }
            server.stop()
            #expect(try await failure(of: server.url("rtsp"))?.code == .connectionRefused)
            #expect(try await failure(of: "http://127.0.0.1:\(server.port)/x")?.code == .connectionRefused)
            #expect(
                try await failure(of: "rtsp://no-such-host.invalid/stream?connect-timeout=30s")?.code == .hostNotFound)
            #expect(
                try await failure(of: "http://no-such-host.invalid/x.mp4?connect-timeout=30s")?.code == .hostNotFound)
        }

        @Test("A certificate of an unknown authority or for another name is refused unless that is allowed")
        func tls() async throws {
            var options = NginxServer.Options(file: try TestClips.path("h264-nob.mp4"))
            options.isTLS = true
            var server = try NginxServer(options)
            #expect(try await failure(of: server.url)?.code == .tlsFailed)
            #expect(try await failure(of: "\(server.url)?tls-ca=\(server.authority ?? "")") == nil)
            options.certificateName = "other.example"
            server = try NginxServer(options)
            #expect(try await failure(of: "\(server.url)?tls-ca=\(server.authority ?? "")")?.code == .tlsFailed)
            #expect(try await failure(of: "\(server.url)?tls-verify=false") == nil)
            // TLS without HTTP, so the decision is not HTTP's.
            let plain = "ffmpeg:tls://127.0.0.1:\(server.port)?connect-timeout=2s"
            #expect(try await failure(of: "\(plain)&tls-ca=\(server.authority ?? "")")?.code == .tlsFailed)
            #expect(try await failure(of: "\(plain)&tls-verify=false")?.code == .timedOut)
        }

        @Test("rtsps is refused where libavformat cannot check the certificate, and works if that is allowed")
        func rtsps() async throws {
            var options = RTSPServer.Options()
            options.isTLS = true
            let server = try RTSPServer(options)
            let error = try await failure(of: server.url)
            // A newer libavformat checks the certificate, and finds the authority unknown.
            #expect([.unsupported, .tlsFailed].contains(error?.code))
            #expect(try await failure(of: "\(server.url)?tls-verify=false") == nil)
        }

        @Test(
            "A password with any characters is accepted, and a wrong one is not",
            arguments: [RTSPServer.Authentication.basic, .digest])
        func credentials(_ authentication: RTSPServer.Authentication) async throws {
            var options = RTSPServer.Options()
            options.authentication = authentication
            options.password = "p@ss/w:rd? %41&x=1#ü"
            let server = try RTSPServer(options)
            let address = server.url.dropFirst("rtsp://".count)
            let escaped = options.password.utf8.map { "%" + String($0, radix: 16) }.joined()
            #expect(try await failure(of: "rtsp://camera:\(escaped)@\(address)") == nil)
            let folder = try TemporaryFolder()
            try Data("\(options.password)\r\n".utf8).write(to: URL(fileURLWithPath: folder.path("secret")))
            #expect(try await failure(of: "\(server.url)?user=camera&password-file=\(folder.path("secret"))") == nil)
            #expect(try await failure(of: "rtsp://camera:wrong@\(address)")?.code == .authenticationFailed)
            #expect(try await failure(of: server.url)?.code == .authenticationFailed)
        }

        @Test("No failure and no success logs a password")
        func redaction() throws {
            var options = RTSPServer.Options()
            options.authentication = .basic
            options.password = "hunter2 secret"
            let server = try RTSPServer(options)
            let proxy = try FaultProxy(to: server.port, carrier: .rtsp, seed: 3, faults: [.corrupt(percent: 20)])
            let base64 = Data("camera:\(options.password)".utf8).base64EncodedString()
            for (address, password) in [
                (server.url, "hunter2%20secret"), (server.url, "wrong-hunter2"),
                (proxy.url(server.url), "hunter2%20secret"),
                ("http://127.0.0.1:\(server.port)/x", "hunter2%20secret"),
                ("rtsp://no-such-host.invalid/", "hunter2%20secret"),
            ] {
                let parts = address.split(separator: "/", maxSplits: 1)
                let inlet = try InletProcess.run([
                    "run", "\(parts[0])//camera:\(password)@\(parts[1].dropFirst())", "--frames", "30", "--retry", "1",
                    "--outage", "text", "--report", "json",
                ])
                let said = inlet.complaints + String(decoding: inlet.output, as: UTF8.self)
                #expect(!said.contains("hunter2") && !said.contains(base64), "\(said)")
            }
        }

        @Test(
            "Options are validated",
            arguments: [
                ("rtsp://host/?transport=tpc", "tcp"), ("ffmpeg:rtsp://host/?ffmpeg.rtsp_flagz=1", "rtsp_flags"),
                ("ffmpeg:rtsp://host/?ffmpeg.protocol_whitelist=file", "protection"),
                ("ffmpeg:file://host/etc/passwd", "protocol 'file' is not"),
                ("rtsp://host/?ffmpeg.rtsp_flags=1", "ffmpeg: before the address"), ("rtsp:///stream", "no host"),
                ("rtsp://host/?transport", "has no value"),
                ("ffmpeg:rtsp://host/?ffmpeg.rtsp_flags", "has no value"), ("srt://host", "Add a port"),
                ("ffmpeg:tcp://host/x", "Add a port"),
                ("rtsp://host/?user=me&password-env=INLET_NOT_SET", "INLET_NOT_SET"),
                ("rtsp://host/?password=x", "query.password"), ("ffmpeg:http://host/?key=x", "query.key"),
                ("ffmpeg:http://host/?streamid=x", "query.streamid"), ("rtmp://host/a?key=x%20y", "a space"),
                ("rtmp://me@host/a?password=x/y", "cannot send"), ("ffmpeg:tls://host:5?cert=/etc/x", "protection"),
                ("ffmpeg:tls://host:5?query.key=/etc/x", "protection"), ("ffmpeg:tls://host:5?cafile=x", "protection"),
                ("ffmpeg:tcp://host:5?listen", "protection"),
                ("rtsp://host/?max-fps=0", "1 to 100000"),
            ])
        func options(_ uri: String, _ words: String) throws {
            let error = #expect(throws: InletError.self) { try PluginRegistry.trusting.source(uri) }
            #expect(error?.code == .invalidConfiguration || error?.code == .unsupported)
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        }

        @Test(
            "No address shows its password",
            arguments: [
                "rtsp://admin:a/b hunter2@host/x", "rtsp://admin:12 34hunter2@host/x",
                "rtsp://admin:a/b\"hunter2@host/",
                "rtsp://admin:hunter2?@host/x?y=z@w", "rtsp://admin:hunter2@host/x?main&y=z@w",
                "rtsp://host/?query.key=hunter2", "http://host/?ffmpeg.decryption_key=hunter2",
                "http://host/?query.p%61ssword=hunter2", "http://host/?jwt=hunter2",
                "srt://host:1?streamid=hunter2", "rtsp://me@host/?password=hunter2", "rtmp://host/app?key=hunter2",
            ])
        func redactedAddress(_ uri: String) throws {
            let source = try PluginRegistry.standard.source(uri)
            #expect(!source.redactedURI.contains("hunter2"), "\(source.redactedURI)")
        }

        @Test("The camera's own query is sent to the camera")
        func query() throws {
            let source = try PluginRegistry.standard.source("rtsp://host/cam?channel=1&transport=udp&subtype=0%2F1")
            let configuration = try #require(source as? RTSPConfiguration)
            #expect(configuration.url == "rtsp://host/cam?channel=1&subtype=0%2F1")
            #expect(configuration.transport == .udp)
        }

        @Test(
            "A query item without a value, or with the name of an option, is sent to the camera, too",
            arguments: [
                ("rtsp://host:554/cam?real_stream", "rtsp://host:554/cam?real_stream"),
                ("rtsp://me:pw@host/cam?main&transport=udp&x=", "rtsp://me:pw@host/cam?main&x="),
                ("http://host/cam?key=1&passphrase=2", "http://host/cam?key=1&passphrase=2"),
                ("rtmp://host/app?key=a%2Bb&x=1", "rtmp://host/app/a+b?x=1"),
                ("ffmpeg:rtmp://host/app/?key=a%3Fb=c&x=1", "rtmp://host/app/a?b=c&x=1"),
                ("rtsp://host/cam?query.user=admin&query.latency=5&user=me", "rtsp://host/cam?user=admin&latency=5"),
                ("ffmpeg:rtsp://host/cam?query.main", "rtsp://host/cam?main"),
                ("rtsp://me:pw@host/cam?main&mail=a@b", "rtsp://me:pw@host/cam?main&mail=a@b"),
                ("rtsp://host/cam?t=1+2&a%3Db&c=%20", "rtsp://host/cam?t=1+2&a%3Db&c=%20"),
            ])
        func oddQuery(_ uri: String, _ url: String) throws {
            let source = try PluginRegistry.standard.source(uri)
            #expect((source as? FFmpegNetworkConfiguration)?.url ?? (source as? RTSPConfiguration)?.url == url)
        }
    }
}
