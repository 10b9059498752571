#if GStreamer
import ReferenceTools
import Testing

/// Sessions whose network changes, in kernel network namespaces.
@Suite(
    .tags(.rtcPeer), .serialized,
    .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"),
    .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"),
    .enabled(
        if: (try? ReferenceCommand.run("unshare", ["-n", "iptables", "-w", "-S"])) != nil,
        "network namespaces cannot be made here; that needs root, ip and iptables"))
struct NetworkChangeTests {
    private struct Seen: Decodable {
        struct Path: Decodable, Equatable {
            var `protocol`: String
            var local: String?
            var remote: String?
        }
        var before: Int?
        var after: Int?
        var unread: Int?
        var sessions: Int?
        var log: [String]?
        var states: [String]?
        var path: Path?
        var dropped: Int?
        var error: String?
    }

    private static func look(_ name: String) async throws -> Seen {
        try await ViewerRun.peer(
            "network-change.py", python: "/usr/bin/python3", [name, "--inlet", BuiltProgram.inlet])
    }

    @Test("With UDP blocked, Chromium plays by TCP: it connects to a candidate of the answer")
    func withoutUDP() async throws {
        let seen = try await Self.look("no-udp")
        #expect(seen.error == nil)
        #expect(seen.path == Seen.Path(protocol: "tcp", local: "active", remote: "passive"))
        #expect((seen.dropped ?? 0) > 0)
    }

    @Test(
        "A publisher and a source whose address is gone restart without help, and report why",
        arguments: [
            ("publisher", "The network of this machine changed"), ("lost", "The network of this machine changed"),
            ("cable", "The network of this machine changed"),
            ("source", "Interrupted: the network changed"),
        ])
    func ownAddress(name: String, words: String) async throws {
        let seen = try await Self.look(name)
        #expect(seen.error == nil)
        #expect(
            seen.sessions == 2, "the change begins one session, and each attempt while there is no address none")
        #expect((seen.after ?? 0) >= 30)
        #expect(seen.unread == 0)
        #expect(seen.log?.contains { $0.contains(words) } == true, "\(seen.log ?? [])")
    }

    @Test("A page whose device has another address restarts without help", arguments: ["viewer", "camera"])
    func page(name: String) async throws {
        let seen = try await Self.look(name)
        #expect(seen.error == nil)
        #expect((seen.after ?? 0) >= 30)
        // If the page sends, ICE may find the other address before the page reconnects.
        if name == "viewer" { #expect(seen.states == ["live", "reconnecting", "live"]) }
    }
}
#endif
