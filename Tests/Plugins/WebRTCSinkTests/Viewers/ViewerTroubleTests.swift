#if GStreamer
import Foundation
import ReferenceTools
import Testing

/// `inlet run pattern:timecode --to webrtc:`, or with `whip:`, as a separate process, so that the test can count
/// its threads, descriptors and memory.
@Suite(.tags(.rtcPeer), .serialized) struct ViewerTroubleTests {
    private struct Seen: Decodable {
        var trouble: [String]
        var offers: [String: Int]?
        var tally: [String: Int]?
    }

    private static func number(_ name: String, default value: Int) -> String {
        "\(ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value)"
    }

    @Test(
        "Damaged offers and fragments, partial and slow requests get their statuses and leave nothing behind",
        arguments: ["whep", "whip"])
    func hostile(endpoint: String) async throws {
        let count = Self.number("INLET_OFFERS", default: 60)
        let seen: Seen = try await ViewerRun.peer(
            "whep-hostile.py", python: "/usr/bin/python3",
            ["--endpoint", endpoint, "--inlet", BuiltProgram.inlet, "--offers", count, "--fragments", count]
                + ["--growth", Self.number("INLET_GROWTH", default: 40_000)])
        print("\(count) spoilt offers were answered \(seen.offers ?? [:]).")
        #expect(seen.trouble == [])
    }

    @Test(
        "Among hostile clients a legitimate one gets its pages and its sessions, and memory does not grow"
    )
    func gallery() async throws {
        let seen = try await HostileGallery.run(against: "webrtc")
        #expect(seen.trouble == [])
        #expect(seen.attacks.count == 14)
    }

    @Test(
        "Publishers come and go fifty times, by DELETE, without it and replaced by the next, and leave nothing behind",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func rounds() async throws {
        let seen: Seen = try await ViewerRun.peer(
            "whip-rounds.py", python: ViewerRun.aiortcPython,
            ["--inlet", BuiltProgram.inlet, "--growth", Self.number("INLET_GROWTH", default: 20_000)])
        #expect(seen.trouble == [])
    }

    @Test(
        "Viewers come and go by a seeded schedule, some killed, and leave no session, thread, descriptor or memory behind",
        .enabled(if: ViewerRun.hasAiortc, "aiortc is not installed; Scripts/bootstrap --webrtc --test installs it"))
    func schedule() async throws {
        let count = Self.number("INLET_SESSIONS", default: 40)
        let seen: Seen = try await ViewerRun.peer(
            "whep-soak.py", python: ViewerRun.aiortcPython,
            [
                "--inlet", BuiltProgram.inlet, "--sessions", count, "--workers",
                Self.number("INLET_WORKERS", default: 2),
            ]
                + [
                    "--seed", Self.number("INLET_SEED", default: 1), "--growth",
                    Self.number("INLET_GROWTH", default: 20_000),
                ])
        print(
            "\(count) sessions: \((seen.tally ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        #expect(seen.trouble == [])
        #expect(seen.tally?["connected", default: 0] ?? 0 > 0)
    }
}
#endif
