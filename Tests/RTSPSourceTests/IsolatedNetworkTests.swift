import InletCore
import RTSPSource
import ReferenceTools
import Testing

extension RTSPSourceTests {
    /// Groups and link-local addresses: servers in networks of their own.
    @Suite(
        .enabled(
            if: RTSPServer.missing == nil && NetworkNamespace.isAvailable,
            "\(RTSPServer.missing ?? "network namespaces cannot be made here; that needs root and the tool ip")"))
    struct IsolatedNetworkTests {
        private static let linkLocal = "[fe80::77:1%25client]"

        private func server(_ change: (inout RTSPServer.Options) -> Void) throws -> RTSPServer {
            var options = RTSPServer.Options()
            options.isIsolated = true
            options.size = ImageSize(width: 320, height: 240)
            change(&options)
            return try RTSPServer(options)
        }

        @Test("Every picture comes by multicast as the file has it", arguments: ["10.77.0.1", linkLocal])
        func pictures(_ host: String) async throws {
            let clip = try TunnelClip.get()
            let server = try server {
                $0.file = clip.path
                $0.transport = .multicast
            }
            let run = SourceRun(
                .test("rtsp://\(host):\(server.port)/stream") { $0.transport = .multicast }, network: server.clients)
            #expect(try await run.pictures(40) == clip.sums, "\(run.log.text) \(server.process.log)")
            #expect(try await server.teardowns() == 1)
        }

        @Test("A group's sender gets reports, at the group's port for RTCP", arguments: ["10.77.0.1", linkLocal])
        func reports(_ host: String) async throws {
            let server = try server { $0.transport = .multicast }
            let run = SourceRun(
                .test("rtsp://\(host):\(server.port)/stream") { $0.transport = .multicast }, decodes: false,
                network: server.clients)
            _ = try await run.open()
            var reporters: PeerMessage = [:]
            // A report is due after 2.5 s, and then every 5 s.
            let end = ContinuousClock.now + .seconds(15)
            while reporters.isEmpty, ContinuousClock.now < end {
                for _ in 0..<10 { #expect(try await run.next()?.packet != nil) }
                if case .object(let members)? = try server.report()["reporters"] { reporters = members }
            }
            #expect(reporters.count == 1, "\(server.process.log)")
            try await run.close()
        }

        @Test("A link-local address is reached by the interface that the address names")
        func zone() async throws {
            let server = try server { _ in }
            let run = SourceRun(
                .test("rtsp://\(Self.linkLocal):\(server.port)/stream"), decodes: false, network: server.clients)
            _ = try await run.open()
            #expect(try await run.next()?.packet?.isKey == true)
            try await run.close()
            let other = SourceRun(
                .test("rtsp://[fe80::77:1%25lo]:\(server.port)/stream"), decodes: false, network: server.clients)
            #expect(try await other.failure() != nil)
        }

        @Test(
            "A redirection between link-local addresses keeps to the interface, and datagrams come by it",
            arguments: [RTSPConfiguration.Transport.tcp, .udp])
        func datagrams(_ transport: RTSPConfiguration.Transport) async throws {
            var options = try ScriptClip.of(.slices).options
            options.isIsolated = true
            options.transport = transport == .udp ? .udp : .tcp
            options.redirect = "moved"
            let clip = try ScriptClip.of(.slices)
            let server = try RTSPScript(options)
            let run = SourceRun(
                .test("rtsp://\(Self.linkLocal):\(server.port)/stream") { $0.transport = transport },
                network: server.clients)
            #expect(try await run.pictures(clip.sums.count) == clip.sums, "\(run.log.text)")
            // The name of an interface has a meaning on its own machine alone.
            #expect(server.requests.allSatisfy { !$0.url.contains("%") && $0.url.contains("[fe80::77:1]") })
        }
    }
}
