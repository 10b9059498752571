import Foundation
import InletSystem
import ReferenceTools
import Testing

/// The budget of cores of a running daemon.
@Suite(.tags(.daemon), .serialized, .fewDaemons, .takes(atMostMinutes: 10)) struct BudgetTests {
    /// The cores that the daemon and two of its cameras use, over some seconds.
    private static func cores(_ serve: ServeProcess) async throws -> (total: Double, attic: Double) {
        func reading() async throws -> (total: Double, attic: Double, time: ContinuousClock.Instant) {
            let (_, body) = try await serve.ask("GET", "/metrics")
            let line = String(decoding: body, as: UTF8.self).split(separator: "\n").first {
                $0.hasPrefix("inlet_camera_processor_seconds_total{camera=\"attic\"}")
            }
            let attic = try #require(line?.split(separator: " ").last.flatMap { Double($0) })
            let process = try #require(ProcessorClock.process(serve.process.processIdentifier))
            return (process / .seconds(1), attic, .now)
        }
        let first = try await reading()
        try await Task.sleep(for: .seconds(6))
        let last = try await reading()
        let length = (last.time - first.time) / .seconds(1)
        return ((last.total - first.total) / length, (last.attic - first.attic) / length)
    }

    @Test("Over budget the lowest priority is reduced, the highest keeps every frame, and all recover with the load")
    func priorities() async throws {
        func text(budget: Double?, isGuestThere: Bool) -> String {
            let encoded = "?codec=h264&threads=1"
            return (budget.map { "budget: {cores: \(String(format: "%.3f", $0))}\n" } ?? "")
                + """
                cameras:
                  door:
                    source: pattern:timecode?size=320x240&fps=15
                    priority: high
                    sinks: [{uri: 'mp4:door.mp4\(encoded)', queue: lossless}]
                  attic:
                    source: pattern:timecode?size=640x480&fps=20
                    priority: low
                    sinks: ['mp4:attic.mp4\(encoded)']

                """
                + (isGuestThere
                    ? """
                      guest:
                        source: pattern:timecode?size=800x600&fps=20
                        degrade: []
                        sinks: ['mp4:guest.mp4\(encoded)']

                    """ : "")
        }
        let tokens = """
              tokens:
                boss: {scope: admin, env: INLET_ADMIN}
                wall: {scope: view, env: INLET_VIEWER, cameras: [attic]}

            """
        let serve = try await ServeProcess(tokens + text(budget: nil, isGuestThere: true), tokens: false)
        for name in ["door", "attic", "guest"] { _ = try await serve.camera(name) { $0.captured > 20 } }
        let before = try await Self.cores(serve)
        #expect(before.attic > 0 && before.attic < before.total, "\(before)")
        // The excess is less than half of the attic's load.
        let budget = max(0.05, before.total - before.attic * 0.3)
        try serve.write(text(budget: budget, isGuestThere: true))
        let attic = try await serve.camera("attic") { $0.degraded != nil }
        #expect(attic.priority == "low")
        // A client that may see one camera learns nothing about the others, not even the total load.
        let (_, seen) = try await serve.ask("GET", "/v1/cameras/attic", token: ServeProcess.viewer)
        let why = try #require(try JSONDecoder().decode(ServeProcess.Camera.self, from: seen).degraded?.why)
        #expect(why == "The budget of cores is exceeded.")
        #expect(try await serve.ask("GET", "/v1/cameras/door", token: ServeProcess.viewer).status == 404)
        let (_, metrics) = try await serve.ask("GET", "/metrics")
        let figures = String(decoding: metrics, as: UTF8.self)
        // On some machines one step is not enough.
        #expect(figures.contains(/inlet_camera_degraded\{camera="attic"\} [1-9]\n/), "\(figures)")
        #expect(figures.contains("inlet_budget_used_cores{} ") && figures.contains("inlet_budget_cores{} "))
        for name in ["door", "guest"] {
            #expect(figures.contains("inlet_camera_degraded{camera=\"\(name)\"} 0\n"))
            #expect(try await serve.camera(name) { _ in true }.degraded == nil)
        }
        // Long enough for the recording to show it.
        let captured = try await serve.camera("door") { _ in true }.captured
        _ = try await serve.camera("door") { $0.captured > captured + 45 }

        try serve.write(text(budget: budget, isGuestThere: false))
        let restored = try await serve.camera("attic") { $0.degraded == nil }
        #expect(restored.openings == 1)
        let later = try await serve.camera("door") { _ in true }.captured
        let last = try await serve.camera("door") { $0.captured > later + 15 }.captured
        #expect(await serve.end() == 0)

        func times(_ file: String) async throws -> [Double] {
            let output = try await ReferenceCommand.runAside(
                "ffprobe",
                [
                    "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time", "-of", "csv=p=0",
                    serve.folder.path(file),
                ])
            return String(decoding: output, as: UTF8.self).split(separator: "\n").compactMap {
                Double($0.prefix { $0 != "," })
            }.sorted()
        }
        let door = try await times("door.mp4")
        // Every picture that the source made, except those that waited at the end; on a busy machine the source skips
        // some.
        #expect(door.count > 60 && door.count >= last - 10, "\(door.count) of \(last)")
        // A twentieth of a second, a tenth, and a twentieth again.
        let rare = try await times("attic.mp4")
        let steps = zip(rare, rare.dropFirst()).map { $1 - $0 > 0.075 }
        #expect(steps.count(where: \.self) > 10, "\(rare)")
        #expect(steps.prefix(20).contains(false) && steps.suffix(10).contains(false))
    }

    @Test("A camera over budget is refused with the reason, in a trial, too; without a budget it is accepted")
    func refusal() async throws {
        let serve = try await ServeProcess(
            """
            budget: {cores: 0.05}
            cameras:
              door:
                source: pattern:timecode?size=1280x720&fps=30
                degrade: []
                sinks: ['mp4:door.mp4?codec=h264&threads=1']

            """)
        let body = #"{"name": "yard", "source": "pattern:smpte", "degrade": []}"#
        let (status, answer) = try await ServeProcess.last {
            let (status, answer) = try await serve.ask("POST", "/v1/cameras?dry-run=true", body: body)
            return (status, String(decoding: answer, as: UTF8.self))
        } until: {
            $0.0 == 422
        }
        #expect(status == 422 && answer.contains("0.05 cores of the budget"), "\(answer)")
        #expect(answer.contains("budget.cores"))
        #expect(try await serve.ask("POST", "/v1/cameras", body: body).status == 422)
        #expect(try await serve.ask("GET", "/v1/cameras/yard").status == 404)
        // Without a budget it is accepted.
        try serve.write("cameras: {door: 'pattern:smpte'}\n")
        let (taken, _) = try await ServeProcess.last {
            try await serve.ask("POST", "/v1/cameras?dry-run=true", body: body)
        } until: {
            $0.status == 200
        }
        #expect(taken == 200)
        #expect(await serve.end() == 0)
    }
}
