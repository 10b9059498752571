import Inlet
import InletTesting
import Logging
import Synchronization

/// A live source that numbers its frames, so that a gap in a sink's numbers is a lost frame, however slow the machine
/// is.
struct CountingConfiguration: FrameSourceConfiguration {
    var redactedURI: String

    func makeSource() -> any FrameSource { CountingSource() }
}

private final class CountingSource: FrameSource {
    private var sequence: UInt64 = 0

    func open(_ context: SourceContext) throws -> SourceFormat {
        SourceFormat(
            size: ImageSize(width: 16, height: 16), pixelFormat: .yuv420p, timeBase: Rational(1, 1000), pacing: .live)
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        try context.sleep(until: context.clock.now + .milliseconds(10))
        let buffer = try I420Draft(size: ImageSize(width: 16, height: 16)).publish()
        defer { sequence += 1 }
        return .frame(
            SourceFrame(
                buffer, pts: MediaTime(ticks: Int64(sequence) * 10, timeBase: Rational(1, 1000)), sequence: sequence))
    }

    func close() {}
}

/// A log without a reader.
let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Sinks that record their frames, by the rest of their URIs: one log per URI, which outlives the sinks.
final class Recorders: Sendable {
    private let logs = Mutex<[String: RecordingSink.Log]>([:])

    subscript(name: String) -> RecordingSink.Log {
        logs.withLock { logs in
            if let log = logs[name] { return log }
            let log = RecordingSink.Log()
            logs[name] = log
            return log
        }
    }

    /// A registry with `count:`, which counts, `record:NAME`, which records, and everything built into Inlet.
    var registry: PluginRegistry {
        var registry = PluginRegistry.standard
        registry.register(
            SourcePlugin(
                PluginInfo(
                    name: "Count", schemes: ["count"], summary: "Counts.", usage: "count:NAME", options: [],
                    examples: [])
            ) { uri, _ in CountingConfiguration(redactedURI: uri.text) })
        registry.register(
            SinkPlugin(
                PluginInfo(
                    name: "Record", schemes: ["record"], summary: "Records.", usage: "record:NAME", options: [],
                    examples: [])
            ) { uri, _ in RecordingConfiguration(redactedURI: uri.text, log: self[uri.rest]) })
        return registry
    }
}

private struct RecordingConfiguration: FrameSinkConfiguration {
    var redactedURI: String
    var log: RecordingSink.Log

    func makeSink() -> any FrameSink { RecordingSink(log: log) }
}
