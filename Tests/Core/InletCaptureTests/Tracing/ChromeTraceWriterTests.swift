import Foundation
import InletCapture
import InletCore
import InletTesting
import ReferenceTools
import Testing

@Suite(.timeLimit(.minutes(10)), .blocking) struct ChromeTraceWriterTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A run leaves a trace with every frame in every stage of every sink")
    func run() async throws {
        let path = folder.path("run.json")
        let writer = try ChromeTraceWriter(path: path)
        var configuration = CapturerConfiguration()
        configuration.tracer = writer
        let capturer = Capturer(ScriptedSourceConfiguration(.init(.frames(50))), configuration: configuration)
        capturer.attach(RecordingSink(), named: "one")
        capturer.attach(RecordingSink(), named: "two")
        try await capturer.run()
        try await writer.finish()
        let summary = try TraceCheck.run(path)
        #expect(summary.processes == ["scripted:"])
        for sink in ["one", "two"] {
            for stage in ["convert", "consume"] { #expect(summary.frames["\(sink) \(stage)"] == Array(0..<50)) }
        }
        #expect(writer.leftOut == 0)
    }

    @Test("Traces after the end are left out and counted, and ending twice changes nothing")
    func afterTheEnd() async throws {
        let path = folder.path("end.json")
        let writer = try ChromeTraceWriter(path: path)
        try await writer.finish()
        writer.trace(try await someTrace())
        try await writer.finish()
        #expect(writer.leftOut == 1)
        #expect(try TraceCheck.run(path).threads.isEmpty)
    }

    @Test("A writer that lags behind leaves out traces, and notes it in the file")
    func lagging() async throws {
        let path = folder.path("lag.json")
        let writer = try ChromeTraceWriter(path: path, capacity: 1)
        let trace = try await someTrace()
        let count: UInt64 = 50_000
        for number in 0..<count {
            var trace = trace
            trace.sequence = number
            trace.stages.delivered = MonotonicTime(nanoseconds: Int64(number) * 10)
            trace.end = MonotonicTime(nanoseconds: Int64(number) * 10 + 5)
            writer.trace(trace)
        }
        try await writer.finish()
        let summary = try TraceCheck.run(path)
        #expect(UInt64(summary.slices["sink consume"] ?? 0) + writer.leftOut == count)
        #expect(summary.instants["incomplete"] == (writer.leftOut > 0 ? 1 : nil))
    }

    @Test("A file that cannot be created is an error with its code")
    func noFile() throws {
        #expect { try ChromeTraceWriter(path: folder.path("no/such/folder")) } throws: {
            ($0 as? InletError)?.code == .notFound
        }
        #expect { try ChromeTraceWriter(path: folder.path("")) } throws: {
            ($0 as? InletError)?.code == .invalidConfiguration
        }
    }

    @Test("A pipe is refused, with and without a reader")
    func pipe() throws {
        let path = folder.path("pipe")
        try ReferenceCommand.run("mkfifo", [path])
        #expect(throws: InletError.self) { try ChromeTraceWriter(path: path) }
        let reader = try #require(FileHandle(forUpdatingAtPath: path))
        #expect { try ChromeTraceWriter(path: path) } throws: {
            ($0 as? InletError)?.code == .invalidConfiguration
        }
        try reader.close()
    }

    @Test("A full disk fails the end, not the frames")
    func fullDisk() async throws {
        let writer = try ChromeTraceWriter(path: "/dev/full")
        let trace = try await someTrace()
        for _ in 0..<10 { writer.trace(trace) }
        await #expect { try await writer.finish() } throws: {
            ($0 as? InletError)?.code == .resourceExhausted
        }
    }

    /// A trace as a capturer makes it.
    private func someTrace() async throws -> FrameTrace {
        let tracer = RecordingTracer()
        var configuration = CapturerConfiguration()
        configuration.tracer = tracer
        let capturer = Capturer(ScriptedSourceConfiguration(.init(.frames(1))), configuration: configuration)
        capturer.attach(RecordingSink(), named: "sink")
        try await capturer.run()
        return try #require(tracer.traces.first)
    }
}
