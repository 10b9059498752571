#if GStreamer
import ReferenceTools
import Testing

/// Viewers in kernel network namespaces.
@Suite(.tags(.chromium, .rtcPeer), .serialized) struct ViewerLinkTests {
    private struct Seen: Decodable {
        struct Step: Decodable {
            var kbps: Double
            var meantKbps: [Double]
            var pictures: Int
        }
        var steps: [Step]
        var unread: Int
        var error: String?
    }

    private static let hasNamespaces =
        (try? ReferenceCommand.run("unshare", ["-n", "tc", "qdisc", "show"])) != nil
    private static let hasRouters =
        hasNamespaces && (try? ReferenceCommand.run("unshare", ["-n", "iptables", "-w", "-t", "nat", "-S"])) != nil

    /// The script measures how fast the rate adapts; this test doesn't judge it.
    @Test(
        "When a link gets slower, the stream to its viewer adapts, and pictures continue",
        .enabled(if: ViewerRun.hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"),
        .enabled(
            if: hasNamespaces, "network namespaces cannot be made here; that needs root and the tools ip and tc"))
    func slower() async throws {
        let seen: Seen = try await ViewerRun.peer(
            "whep-links.py", python: "/usr/bin/python3",
            [
                "--inlet", BuiltProgram.inlet, "--viewer", "chromium", "--size", "640x480", "--steps",
                "4:5000,12:500", "--json",
            ])
        #expect(seen.error == nil)
        let (fast, slow) = (try #require(seen.steps.first), try #require(seen.steps.last))
        #expect(fast.meantKbps.contains { $0 > 500 })
        #expect(slow.meantKbps.contains { $0 <= 500 })
        // Some pictures are too blurred to be read while the size changes or the rate is low.
        #expect(fast.pictures > 0 && slow.pictures > 0)
        #expect(seen.unread * 10 < fast.pictures + slow.pictures)
    }

    @Test(
        "A session works through a NAT router, with either side behind it, by the server's STUN address",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"),
        .enabled(if: TURNServer.missing == nil, "\(TURNServer.missing ?? "")"),
        .enabled(
            if: hasRouters, "network namespaces with NAT cannot be made here; that needs root, ip and iptables"),
        arguments: ["server", "viewer"])
    func router(before behind: String) async throws {
        struct Candidate: Decodable, Equatable {
            var kind: String
            var address: String
        }
        struct Seen: Decodable {
            var router: String
            var home: String
            var candidates: [Candidate]
            var path: [String: Candidate]
            var count: Int
            var unread: Int
            var error: String?
        }
        let seen: Seen = try await ViewerRun.peer(
            "whep-nat.py", python: "/usr/bin/python3", ["--inlet", BuiltProgram.inlet, "--behind", behind])
        #expect(seen.error == nil)
        #expect(seen.count == 30)
        #expect(seen.unread == 0)
        let reflexive = Candidate(kind: "srflx", address: seen.router)
        if behind == "server" {
            #expect(seen.candidates.contains(Candidate(kind: "host", address: seen.home)))
            #expect(seen.candidates.contains(reflexive))
            // The viewer cannot reach the server's own address. If its first packet arrives at the router before
            // the server's has left, the router may send the server's packets from another port. The viewer then
            // sees the address as peer-reflexive (RFC 8445, section 7.3.1.3).
            let remote = try #require(seen.path["remote"])
            #expect(remote.address == seen.router && ["srflx", "prflx"].contains(remote.kind), "\(remote)")
        } else {
            #expect(seen.path["local"] == Candidate(kind: "host", address: seen.home))
        }
    }
}
#endif
