#if GStreamer
import Foundation
import Inlet
import ReferenceTools
import Testing

/// `inlet run` as the publisher of a Janus room and aiortc subscribers: in any order, and after either is killed,
/// pictures flow in the end.
@Suite(.tags(.rtcPeer), .serialized, .enabled(if: JanusServer.missing == nil, "\(JanusServer.missing ?? "")"))
struct JanusOrderTests {
    /// The subscribers' process.
    private struct Subscribers {
        let process: PeerProcess
        let janus: JanusServer

        func join(_ name: String) throws {
            try process.send(
                "join", ["name": .string(name), "url": .string("ws://127.0.0.1:\(janus.port)/"), "room": 1234])
        }
        func kill(_ name: String) throws { try process.send("kill", ["name": .string(name)]) }
        func leave(_ name: String) throws { try process.send("leave", ["name": .string(name)]) }
        func report(_ name: String) throws -> ReferenceTools.PeerMessage {
            try process.send("report", ["name": .string(name)])
        }
    }

    private static func host(_ janus: JanusServer, _ folder: TemporaryFolder) throws -> CallProcess {
        try CallProcess(
            [
                "run", "pattern:timecode?size=320x240&fps=30", "--to", "\(janus.address)?room=1234&display=door",
                "--report", "none",
            ], in: folder, isTimed: false)
    }

    @Test("Whatever joins, leaves and is killed in random order, pictures flow in the end, and nothing leaks")
    func random() async throws {
        let folder = try TemporaryFolder()
        let janus = try JanusServer()
        defer { janus.stop() }
        let subscribers = Subscribers(
            process: try PeerProcess("janus-peer.py", python: RemoteTrackTests.python), janus: janus)
        defer { subscribers.process.stop() }
        var random = SplitMix64(seed: 18)
        var host: CallProcess?
        defer { host?.kill() }
        var isGuestThere = false
        var usage = RoundUsage()
        var hosts = RoundUsage()
        for round in 0..<RoundUsage.rounds(by: 6) {
            // The first rounds are the fixed orders: host first, guest first, either killed.
            let kind = round < 5 ? round : Int(random.next() % 6)
            switch kind {
            case 1, 3:
                host?.kill()
                host = nil
            case 2 where isGuestThere:
                try subscribers.kill("ann")
                isGuestThere = false
            case 4 where isGuestThere:
                try subscribers.leave("ann")
                isGuestThere = false
            case 5:
                if let host { host.stop() }
                host = nil
                if isGuestThere { try subscribers.kill("ann") }
                isGuestThere = false
            default: break
            }
            let isGuestFirst = random.next() % 2 == 0
            if isGuestFirst, !isGuestThere { try subscribers.join("ann") }
            // A guest that stays sees the host leave and another one join.
            let before = isGuestThere && host == nil ? try subscribers.report("ann")["feeds"]?.int ?? 0 : 0
            if host == nil { host = try Self.host(janus, folder) }
            if !isGuestFirst, !isGuestThere { try subscribers.join("ann") }
            isGuestThere = true
            let process = try #require(host)
            try await Waiting.until("round \(round)", progress: { try subscribers.report("ann") }) {
                let seen = try subscribers.report("ann")
                return seen["feeds"]?.int ?? 0 > before && seen["count"]?.int ?? 0 >= 5
            }
            #expect(try subscribers.report("ann")["fallen"] == 0)
            usage.note(janus.identifier)
            hosts.note(process.identifier)
        }
        usage.expectNoGrowth("janus")
        hosts.expectNoGrowth("host")
    }
}
#endif
