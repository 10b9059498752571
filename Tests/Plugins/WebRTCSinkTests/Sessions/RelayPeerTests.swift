#if GStreamer
import Foundation
import InletCore
import InletRTC
import WebRTCEngine
import Logging
import ReferenceTools
import Testing

@testable import WebRTCSink

/// Paths through coturn.
@Suite(
    .tags(.chromium, .rtcPeer), .serialized,
    .enabled(if: TURNServer.missing == nil, "\(TURNServer.missing ?? "")"))
struct RelayPeerTests {
    static func candidates(in sdp: String) -> [Substring] {
        sdp.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("a=candidate:") }
    }

    /// Returns the answer to an offer without a real viewer.
    static func answer(_ run: ViewerRun, _ arguments: [String] = []) async throws -> String {
        try await run.curl(
            ["-i", "-H", "content-type: application/sdp", "--data-binary", ThrowawayOffer.sdp] + arguments, "/whep")
    }

    @Test(
        "With relay-only only the relay is named, and aiortc gets pictures through it, by UDP or TCP",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"),
        arguments: [false, true])
    func relayOnly(byTCP: Bool) async throws {
        let relay = try TURNServer(isTCPAlone: byTCP)
        defer { relay.stop() }
        let ice = try ICEServers(
            stun: nil, turn: "127.0.0.1:\(relay.port)\(byTCP ? "?transport=tcp" : "")", user: nil, password: nil,
            secret: relay.secret,
            isRelayOnly: true)
        try await ViewerRun.with(change: { $0.ice = ice }) { run in
            let answer = try await Self.answer(run)
            #expect(answer.hasPrefix("HTTP/1.1 201"), "\(answer)")
            let candidates = Self.candidates(in: answer)
            #expect(!candidates.isEmpty)
            #expect(candidates.allSatisfy { $0.contains(" typ relay") }, "\(candidates)")
            let seen: ViewerPeerTests.Seen = try await ViewerRun.peer(
                "whep-viewer.py", python: ViewerRun.aiortcPython, [run.address + "/whep", "--frames", "30"])
            #expect(seen.error == nil)
            #expect(seen.count == 30)
            #expect(seen.unread == 0)
            #expect(try relay.users().contains { $0.hasSuffix(":inlet") })
        }
    }

    /// Returns a relay at a server's TLS port as the only path.
    private static func secure(_ relay: TURNServer, host: String = "127.0.0.1") throws -> ICEServers {
        try ICEServers(
            stun: nil, turn: "turns:\(host):\(relay.securePort)", user: nil, password: nil, secret: relay.secret,
            isRelayOnly: true)
    }

    @Test(
        "A relay over TLS is contacted by TLS, its certificate is checked, and aiortc gets pictures through it",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"),
        arguments: ["127.0.0.1", "localhost"])
    func secureRelay(host: String) async throws {
        let relay = try TURNServer(hasTLS: true)
        defer { relay.stop() }
        var ice = try Self.secure(relay, host: host)
        ice.tls.authorities = relay.authority
        try await ViewerRun.with(change: { $0.ice = ice }) { run in
            let seen: ViewerPeerTests.Seen = try await ViewerRun.peer(
                "whep-viewer.py", python: ViewerRun.aiortcPython, [run.address + "/whep", "--frames", "30"])
            #expect(seen.error == nil)
            #expect(seen.count == 30)
            #expect(seen.unread == 0)
            let candidates = Self.candidates(in: try await Self.answer(run))
            #expect(!candidates.isEmpty)
            #expect(candidates.allSatisfy { $0.contains(" typ relay") }, "\(candidates)")
            #expect(try relay.users().contains { $0.hasSuffix(":inlet") })
        }
        let first = try relay.firstBytes()
        #expect(!first.isEmpty)
        // RFC 8446, 5.1 and 4: a handshake record that contains a ClientHello.
        #expect(first.allSatisfy { $0.hasPrefix("1603") && $0.dropFirst(10).hasPrefix("01") }, "\(first)")
    }

    @Test("A relay's untrusted certificate has a clear error; unchecked it is accepted")
    func distrustedRelay() async throws {
        let relay = try TURNServer(hasTLS: true)
        defer { relay.stop() }
        var ice = try Self.secure(relay)
        try await ViewerRun.with(change: { $0.ice = ice }) { run in
            let answer = try await Self.answer(run)
            #expect(answer.hasPrefix("HTTP/1.1 502"), "\(answer)")
            #expect(answer.contains("its certificate is not trusted"), "\(answer)")
            #expect(!answer.contains(relay.secret))
        }
        #expect(try relay.users() == [])
        ice.tls.isVerified = false
        try await ViewerRun.with(change: { $0.ice = ice }) { run in
            let answer = try await Self.answer(run)
            #expect(answer.hasPrefix("HTTP/1.1 201"), "\(answer)")
        }
    }

    @Test("A failed path to a relay over TLS reports the reason, and no credentials")
    func tunnelFailure() async throws {
        let relay = try TURNServer(hasTLS: true)
        defer { relay.stop() }
        for (port, code) in [
            (relay.securePort, InletError.Code.tlsFailed), (try FreePort.find(), .disconnected),
        ] {
            let server = try ICEServer("turns:127.0.0.1:\(port)", user: "ann", password: "north")
            let tunnel = try RelayTunnel(
                to: server, RelayTLS(), host: "127.0.0.1", logger: Logger(label: "test"))
            defer { tunnel.close() }
            _ = try? await ReferenceCommand.runAside(
                "curl", ["-s", "-m", "10", "http://127.0.0.1:\(tunnel.port)/"])
            for _ in 0..<3000 where tunnel.failure == nil { try await Task.sleep(for: .milliseconds(10)) }
            let failure = try #require(tunnel.failure)
            #expect(failure.code == code, "\(failure)")
            #expect(!"\(failure.about(server.uri))".contains("north"))
        }
    }

    @Test("Both of two STUN servers are queried, and one that never answers costs no candidate", arguments: [0, 1])
    func stunServers(dead: Int) async throws {
        let servers = try (0..<2).map { try STUNServer(mapped: "203.0.113.7", isSilent: $0 == dead) }
        defer { for server in servers { server.stop() } }
        let ice = try ICEServers(
            stun: servers.map(\.address).joined(separator: ","), turn: nil, user: nil,
            password: nil, secret: nil)
        try await ViewerRun.with(change: { $0.ice = ice }) { run in
            let candidates = Self.candidates(in: try await Self.answer(run))
            #expect(
                candidates.contains { $0.contains("203.0.113.7") && $0.contains(" typ srflx") }, "\(candidates)")
        }
        // The second server may get its request a moment after the first has answered.
        for server in servers {
            for _ in 0..<1000 where try server.requests() == 0 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try server.requests() > 0)
        }
    }

    @Test(
        "Chromium, given the relay by Link headers, sees the picture only through it",
        .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"))
    func browser() async throws {
        struct Shown: Decodable {
            var numbers: [Int]
            var state: String
        }
        let relay = try TURNServer()
        defer { relay.stop() }
        let ice = try ICEServers(
            stun: "127.0.0.1:\(relay.port)", turn: "127.0.0.1:\(relay.port)", user: nil, password: nil,
            secret: relay.secret)
        try await ViewerRun.with(token: "let-me-in", change: { $0.ice = ice }) { run in
            // A client without the token gets an answer without the relay.
            #expect(try await !run.curl(["-i", "-X", "OPTIONS"], "/whep").contains("credential"))
            let bearer = ["-H", "authorization: Bearer let-me-in"]
            #expect(
                try await run.curl(["-i", "-X", "OPTIONS"] + bearer, "/whep").contains(
                    "<turn:127.0.0.1:\(relay.port)>; rel=\"ice-server\"; username="))
            // STUN on loopback finds only the host's address, so there are only these kinds of candidates.
            let candidates = Self.candidates(in: try await Self.answer(run, bearer))
            #expect(candidates.contains { $0.contains(" typ host") && $0.uppercased().contains(" UDP ") })
            #expect(candidates.contains { $0.contains(" typ host") && $0.uppercased().contains(" TCP ") })
            #expect(candidates.contains { $0.contains(" typ relay") })
            let shown: Shown = try await ViewerRun.peer(
                "whep-browser.py", python: "/usr/bin/python3", [run.address + "/?token=let-me-in#relay"])
            #expect(shown.numbers.count >= 20)
            #expect(shown.numbers == shown.numbers.sorted())
            #expect(shown.state == "live")
            #expect(try relay.users().contains { $0.hasSuffix(":viewer") })
        }
    }

    @Test(
        "A relay that refuses the credentials has a clear error if only the relay may be used",
        arguments: [true, false])
    func refused(_ isExpired: Bool) async throws {
        let relay = try TURNServer()
        defer { relay.stop() }
        let credentials = RelayCredentials(
            secret: isExpired ? relay.secret : "south", name: "ann",
            now: Int(Date().timeIntervalSince1970) - (isExpired ? 100_000 : 0))
        let ice = try ICEServers(
            stun: nil, turn: "127.0.0.1:\(relay.port)", user: credentials.user, password: credentials.password,
            secret: nil, isRelayOnly: true)
        try await ViewerRun.with(change: { $0.ice = ice }) { run in
            let answer = try await Self.answer(run)
            #expect(answer.hasPrefix("HTTP/1.1 502"), "\(answer)")
            #expect(answer.contains("It rejects the user and password, which may have expired"))
            #expect(!answer.contains(credentials.password))
        }
    }
}
#endif
