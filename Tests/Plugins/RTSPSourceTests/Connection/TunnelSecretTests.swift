import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// The data that a tunnel's requests reveal to the target of a redirection.
    @Suite struct TunnelSecretTests {
        /// Starts an RTSP server behind a gate that opens WebSockets.
        private func gate(redirect: String = "", _ authentication: RTSPServer.Authentication = .none) throws -> (
            RTSPScript, RTSPTunnel
        ) {
            var options = try ScriptClip.of(.small).options
            options.pictures = 0
            options.redirect = redirect
            let server = try RTSPScript(options)
            var gate = RTSPTunnel.Options(.websocket)
            gate.authentication = authentication
            return (server, try RTSPTunnel(toPort: server.port, gate))
        }

        @Test(
            "The target of a redirection learns no password and no path of the tunnel",
            arguments: ["127.0.0.1", "localhost"], [RTSPServer.Authentication.none, .basic, .digest])
        func elsewhere(_ host: String, _ authentication: RTSPServer.Authentication) async throws {
            let (target, second) = try gate(authentication)
            let (server, first) = try gate(redirect: "rtsp://\(host):\(second.port)/stream?x=1", authentication)
            let run = SourceRun(
                .test(first.url) {
                    $0.transport = .websocket
                    $0.tunnelPath = "/way?token=s3cr3t"
                    ($0.user, $0.password) = ("camera", "secret")
                }, decodes: false)
            let error = try await run.failure(within: 1)
            #expect(
                error?.code == (authentication == .none ? nil : .authenticationFailed),
                "\(error.map { "\($0)" } ?? "none") \(run.log.text)")
            let scheme = [.basic: " Basic", .digest: " Digest"][authentication]
            #expect(
                try first.report().requests
                    == ["GET /way?token=s3cr3t"] + (scheme.map { ["GET /way?token=s3cr3t\($0)"] } ?? []))
            #expect(try second.report().requests == ["GET /stream?x=1"])
            #expect(server.methods == ["DESCRIBE"])
            #expect(target.methods.isEmpty == (authentication != .none))
        }

        @Test(
            "The password is sent in readable form to no server that must not get it",
            arguments: [RTSPConfiguration.Transport.http, .websocket])
        func basic(_ transport: RTSPConfiguration.Transport) async throws {
            let (server, gate) = try gate(.basic)
            let run = SourceRun(
                .test(gate.url) {
                    $0.transport = transport
                    $0.basicAuthentication = .encrypted
                    ($0.user, $0.password) = ("camera", "secret")
                }, decodes: false)
            let error = try await run.failure()
            #expect(error?.code == .authenticationFailed && error?.message.contains("basic-auth") == true)
            #expect(try gate.report().requests == ["GET /stream"])
            #expect(server.methods.isEmpty)
        }
    }
}
