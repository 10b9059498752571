import FileSinks
import Foundation
import InletCapture
import InletCore
import ReferenceTools
import Testing

/// A browser, and a crowd of clients that do not read.
@Suite(.tags(.chromium), .serialized) struct PreviewClientsTests {
    private static let peers = BuiltProgram.package.appendingPathComponent("Tests/Peers")

    private static let hasBrowser = (try? ReferenceCommand.run("chromedriver", ["--version"])) != nil

    @Test(
        "In Chromium, the picture moves, the figures change and the graph is drawn",
        .enabled(if: hasBrowser, "chromedriver is not installed; Scripts/bootstrap --test installs it"))
    func browser() async throws {
        struct Seen: Decodable {
            var moves: Bool
            var captured: [String?]
            var lines: Int?
            var state: String
            var source: String
            var sinks: Int
        }
        try await PreviewRun.with { run in
            let folder = try TemporaryFolder()
            let script = Self.peers.appendingPathComponent("preview-browser.py").path
            let output = try await ReferenceCommand.runAside(
                "/usr/bin/python3", ["-B", script, run.address + "/", folder.path("shot.png")])
            let seen = try JSONDecoder().decode(Seen.self, from: output)
            #expect(seen.moves)
            #expect(seen.captured.count == 2 && seen.captured.allSatisfy { $0 != nil })
            #expect(seen.state == "live")
            #expect(seen.source == run.capturer.sourceName)
            #expect(seen.sinks == 1)
            #expect(seen.lines.map { $0 > 0 } == true)
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("shot.png"))).starts(with: [0x89, 0x50]))
        }
    }

    @Test("Among hostile clients, a legitimate one gets its pages and pictures, and memory does not grow")
    func gallery() async throws {
        let seen = try await HostileGallery.run(against: "preview")
        #expect(seen.trouble == [])
        #expect(seen.attacks.count == 12)
    }

    @Test(
        "40 of 50 clients stop reading and are dropped; the other 10 get whole pictures, another sink every frame, and memory does not grow"
    )
    func crowd() async throws {
        struct Outcome: Decodable {
            var wasFull, begun, stillFull, dropped, served: Bool
            var bad, least, most, memoryBeforeKb, memoryAfterKb: Int
        }
        // Large pictures, so that the system's buffers take only a few.
        let size = ImageSize(width: 640, height: 360)
        let folder = try TemporaryFolder()
        let list = folder.path("list")
        let end = try await PreviewRun.with(
            size: size, clients: 50, patience: .seconds(10), beside: FrameMD5SinkConfiguration(path: list)
        ) { run in
            let script = Self.peers.appendingPathComponent("preview-crowd.py").path
            let output = try await ReferenceCommand.runAside(
                "/usr/bin/python3",
                ["-B", script, "\(run.port)", "\(ProcessInfo.processInfo.processIdentifier)", "10", "40", "20"])
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let outcome = try decoder.decode(Outcome.self, from: output)
            #expect(outcome.wasFull)
            // The others received their pictures before the hanging clients were dropped.
            #expect(outcome.begun && outcome.stillFull)
            #expect(outcome.dropped)
            #expect(outcome.served)
            #expect(outcome.bad == 0)
            #expect(outcome.memoryAfterKb - outcome.memoryBeforeKb < 16_384, "\(outcome)")
        }
        #expect(end.supervision.openings == 1)
        // A busy machine delays the pattern; the frames that it then skips do not count.
        let late = Int(end.sourceDrops[.lostBySource] ?? 0)
        #expect(end.sourceDrops.count == (late > 0 ? 1 : 0))
        let other = try #require(end.sinks.last)
        // Except for the frames that still waited when the run was stopped.
        #expect(other.drops.keys.allSatisfy { $0 == .cancelled }, "\(other.drops)")
        let lines = try FrameLines(Data(contentsOf: URL(fileURLWithPath: list))).lines
        #expect(lines.count == Int(other.delivered) && lines.count > 60)
        // Each picture contains its number.
        #expect(Set(lines.map(\.md5)).count == lines.count)
        #expect(lines.count + Int(other.drops[.cancelled] ?? 0) == Int(end.captured))
        let times = lines.compactMap { Int($0.pts) }
        let gaps = zip(times, times.dropFirst()).reduce(0) { $0 + $1.1 - $1.0 - 1 }
        #expect(gaps <= late, "\(times)")
    }
}
