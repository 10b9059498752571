import Foundation
import ReferenceTools
import Testing

/// `inlet run --trace`.
@Suite(.blocking) struct TraceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("The trace holds a track per stage, with every delivered frame")
    func trace() throws {
        let path = folder.path("trace.json")
        let report = try Report(
            InletProcess.run([
                "run", "pattern:ball?pace=none&frames=40&size=64x64", "--to", "null:", "--trace", path, "--report",
                "json",
            ]))
        #expect(report.frames.delivered == 40)
        let summary = try TraceCheck.run(path)
        #expect(summary.frames["null: convert"] == Array(0..<40))
        #expect(summary.frames["null: consume"] == Array(0..<40))
        #expect(summary.threads.contains("null: queue"))
        #expect(summary.instants.isEmpty)
    }

    /// Runs until a frame was traced, and then sends a signal.
    private func run(signal: String, tracing path: String) throws -> InletProcess {
        try InletProcess.shell(
            """
            $INLET run 'pattern:ball?size=64x64' --trace '\(path)' & pid=$!
            until grep --quiet consume '\(path)' 2>/dev/null; do sleep 0.05; done
            kill -\(signal) $pid; wait $pid
            """)
    }

    @Test("The trace of an interrupted run is complete")
    func interrupted() throws {
        let path = folder.path("trace.json")
        #expect(try run(signal: "INT", tracing: path).status == 130)
        #expect(try !TraceCheck.run(path).frames.isEmpty)
    }

    @Test("The trace of a killed run is valid except for its closing bracket")
    func killed() throws {
        let path = folder.path("trace.json")
        #expect(try run(signal: "KILL", tracing: path).status == 137)
        #expect(try !TraceCheck.run(path, isCut: true).frames.isEmpty)
    }

    @Test("A trace that cannot be written is an output error, before or after the run")
    func failures() throws {
        let before = try InletProcess.run(["run", "pattern:ball?frames=3", "--trace", folder.path("no/folder")])
        #expect(before.status == 74)
        #expect(before.complaints.contains("No such file or directory"))
        let after = try InletProcess.run(["run", "pattern:ball?pace=none&frames=3", "--trace", "/dev/full"])
        #expect(after.status == 74)
        #expect(after.complaints.contains("No space left on device"))
    }
}
