import Foundation
import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Encrypted connections, to gst-rtsp-server.
    @Suite(.enabled(if: RTSPServer.missing == nil, "\(RTSPServer.missing ?? "")"))
    struct TLSTests {
        private func server(for name: String = "localhost") throws -> RTSPServer {
            var options = RTSPServer.Options()
            options.isTLS = true
            options.certificateName = name
            options.size = ImageSize(width: 320, height: 240)
            return try RTSPServer(options)
        }

        private func run(_ server: RTSPServer, _ change: (inout RTSPConfiguration) -> Void) -> SourceRun {
            SourceRun(.test(server.url, change), decodes: false)
        }

        private func expectPlays(_ server: RTSPServer, _ change: (inout RTSPConfiguration) -> Void) async throws {
            let run = run(server, change)
            _ = try await run.open()
            for _ in 0..<10 { #expect(try await run.next()?.packet != nil) }
            try await run.close()
        }

        private func expectRefused(_ server: RTSPServer, _ change: (inout RTSPConfiguration) -> Void) async throws {
            let error = try await run(server, change).failure()
            #expect(error?.code == .tlsFailed, "\(error.map { "\($0)" } ?? "no error")")
            #expect(try server.report()["requests"]?["describe"]?.int ?? 0 == 0)
        }

        /// The SHA-256 of the server's certificate.
        private func fingerprint(_ server: RTSPServer) throws -> String {
            let command =
                "openssl s_client -connect 127.0.0.1:\(server.port) </dev/null 2>/dev/null | openssl x509 -noout -fingerprint -sha256"
            let text = String(decoding: try ReferenceCommand.run("sh", ["-c", command]), as: UTF8.self)
            let line = try #require(text.split(separator: "=").last)
            return line.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        @Test("A server is trusted by its authority, and by no other")
        func authority() async throws {
            let (server, other) = (try server(), try server())
            try await expectRefused(server) { _ in }
            try await expectRefused(server) { $0.certificateAuthorities = other.authority }
            try await expectPlays(server) { $0.certificateAuthorities = server.authority }
        }

        @Test("A certificate for another name is refused, unless nothing is checked")
        func name() async throws {
            let server = try server(for: "other")
            try await expectRefused(server) { $0.certificateAuthorities = server.authority }
            try await expectPlays(server) { $0.verifiesCertificate = false }
        }

        @Test("A pinned certificate needs no authority, and no other one is accepted")
        func pin() async throws {
            let (server, other) = (try server(for: "other"), try server())
            let pin = try fingerprint(server)
            try await expectRefused(other) {
                $0.certificatePin = pin
                $0.certificateAuthorities = other.authority
            }
            try await expectRefused(other) {
                $0.certificatePin = pin
                $0.verifiesCertificate = false
            }
            try await expectPlays(server) { $0.certificatePin = pin }
        }

        @Test("A file without an authority is a configuration error")
        func noAuthority() async throws {
            let server = try server()
            let error = try await run(server) { $0.certificateAuthorities = "/dev/null" }.failure()
            #expect(error?.code == .invalidConfiguration, "\(error.map { "\($0)" } ?? "no error")")
        }

        @Test(
            "A server without TLS, or silent in the handshake, ends in an error, without a busy wait",
            .alone)
        func noTLS() async throws {
            let plain = try HostileServer(.random)
            let garbled = try await SourceRun(.test(plain.url("rtsps"))).failure()
            #expect(garbled?.code == .tlsFailed, "\(garbled.map { "\($0)" } ?? "no error")")
            let mute = try HostileServer(.blackHole)
            let before = Self.processorTime
            let silent = try await SourceRun(.test(mute.url("rtsps")) { $0.connectTimeout = .seconds(1) }).failure()
            #expect(silent?.code == .timedOut, "\(silent.map { "\($0)" } ?? "no error")")
            #expect(Self.processorTime - before < .milliseconds(500))
        }

        @Test("A redirection from rtsps to rtsp is refused")
        func downgrade() async throws {
            var options = HostileServer.Options()
            options.kind = .redirectEndless
            options.isTLS = true
            let server = try HostileServer(options)
            let error = try await SourceRun(.test(server.url("rtsps")) { $0.verifiesCertificate = false }).failure()
            #expect(error?.code == .tlsFailed, "\(error.map { "\($0)" } ?? "no error")")
            #expect(try server.report()["connections"]?.int == 1)
        }

        /// The processor time of this process.
        private static var processorTime: Duration {
            var time = timespec()
            unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }
    }
}
