import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// RTSP in a WebSocket, with gst-rtsp-server behind the gate.
    @Suite struct WebSocketTests {
        private func run(_ gate: RTSPTunnel, password: String? = nil) -> SourceRun {
            SourceRun(
                .test(gate.url) {
                    $0.transport = .websocket
                    $0.tunnelPath = "/webSocketServer?a=b"
                    $0.certificateAuthorities = gate.authority
                    if let password { ($0.user, $0.password) = ("camera", password) }
                })
        }

        private static let kinds = RTSPTunnel.python == nil ? [RTSPTunnel.Kind.websocket] : [.websocket, .aiohttp]

        @Test(
            "Every picture arrives as in the file, whatever the gate requires",
            arguments: kinds.flatMap { kind in
                [(RTSPServer.Authentication.none, false), (.none, true), (.basic, false), (.digest, true)].map {
                    (kind, $0.0, $0.1)
                }
            })
        func pictures(_ kind: RTSPTunnel.Kind, _ authentication: RTSPServer.Authentication, _ isTLS: Bool) async throws
        {
            let clip = try TunnelClip.get()
            let server = try clip.server()
            var options = RTSPTunnel.Options(kind)
            options.authentication = authentication
            options.isTLS = isTLS
            let gate = try RTSPTunnel(to: server, options)
            let run = run(gate, password: authentication == .none ? nil : "secret")
            #expect(try await run.pictures(40) == clip.sums, "\(run.log.text) \(gate.process.log)")
            try await Waiting.until("the close", progress: { 0 }) { try gate.report().closes.isEmpty == false }
            let report = try gate.report()
            let request = "GET /webSocketServer?a=b"
            #expect(
                report.requests
                    == [request]
                    + (authentication == .none ? [] : ["\(request) \(authentication == .basic ? "Basic" : "Digest")"]))
            // Each ping except one that the end cut off: the next is sent once one is answered.
            #expect((0...1).contains(report.pings - report.pongs), "\(report)")
            // The gate waits for the answers to the first three; the number of pings after that depends on the
            // machine's speed.
            #expect(report.pongs >= (kind == .aiohttp ? 1 : 3), "\(report)")
            // aiohttp reports 1006 if the peer is gone when it closes.
            #expect(report.closes == [1000] || (kind == .aiohttp && report.closes == [1006]))
            #expect(try await server.teardowns() == 1)
        }

        @Test func aWrongPasswordIsTriedOnce() async throws {
            let server = try TunnelClip.get().server()
            var options = RTSPTunnel.Options(.websocket)
            options.authentication = .digest
            let gate = try RTSPTunnel(to: server, options)
            let run = run(gate, password: "s3cr3t-and-wrong")
            let error = try await run.failure()
            #expect(error?.code == .authenticationFailed, "\(error.map { "\($0)" } ?? "no error")")
            #expect(try gate.report().requests.count == 2)
            #expect(!"\(run.log.text) \(error.map { "\($0)" } ?? "")".contains("s3cr3t"))
        }

        @Test func aServerThatEndsBehindTheGateIsADisconnection() async throws {
            let server = try RTSPServer.live()
            let gate = try RTSPTunnel(to: server, RTSPTunnel.Options(.websocket))
            let run = run(gate)
            _ = try await run.open()
            #expect(try await run.next()?.frame != nil)
            try server.killConnections()
            #expect(try await run.failureOfNext()?.code == .disconnected)
            try await run.close()
        }

        @Test func whatAServerWithoutAWebSocketAnswersIsTheError() async throws {
            // gst-rtsp-server answers with 503.
            let server = try TunnelClip.get().server()
            let run = SourceRun(.test(server.url) { $0.transport = .websocket })
            let error = try await run.failure()
            #expect(error?.code == .serverUnavailable)
            #expect(error?.message.containsBytes("503") == true, "\(error.map { "\($0)" } ?? "no error")")
        }
    }
}
