import Dispatch
public import InletCore
import InletOutput
import Synchronization

// Unsafe: has a file that only its queue uses.
/// Writes traces of frames to a file that `ui.perfetto.dev` and `chrome://tracing` show: a track for every stage, of
/// the source and of each sink.
///
///     let trace = try ChromeTraceWriter(path: "run.json")
///     configuration.tracer = trace
///     try await Capturer(source, configuration: configuration).run()
///     try await trace.finish()
///
/// Several capturers may share one. Writing happens on the writer's own queue; traces that arrive faster than the disk
/// takes them are skipped and counted. The file grows by some 600 bytes for each frame and sink. It is complete at any
/// time except for its closing bracket, which viewers do not need. Times are those of the machine's monotonic clock.
public final class ChromeTraceWriter: FrameTracer {
    private let capacity: Int
    private let queue = DispatchQueue(label: "inlet.trace", qos: .utility)
    private let waiting = Mutex(Waiting())
    private let worker: Worker

    private struct Waiting {
        var traces: [FrameTrace] = []
        var leftOut: UInt64 = 0
        /// Whether a drain is scheduled on the queue.
        var isScheduled = false
        var isFinished = false
    }

    /// Touched on the writer's queue only, which is what makes it safe to hand around.
    private final class Worker: @unchecked Sendable {
        var encoder = ChromeTraceEncoder()
        let file: OutputFile
        var failure: InletError?
        var isClosed = false

        init(_ file: OutputFile) { self.file = file }
    }

    /// Creates the file, readable by its owner only, and replaces one of the same name.
    ///
    /// - Parameters:
    ///   - path: a file, not a pipe or a symbolic link; `-` is standard output.
    ///   - capacity: the most traces that may be queued, each of some 300 bytes. The default is 8192.
    /// - Throws: ``InletError/Code/notFound`` if the folder does not exist, ``InletError/Code/permissionDenied``,
    ///   ``InletError/Code/invalidConfiguration`` if the path is not that of a file, and others by the system's
    ///   `errno`.
    public init(path: String, capacity: Int = 8192) throws(InletError) {
        self.capacity = max(1, capacity)
        worker = Worker(try OutputFile(path: path, takesPipes: false, subject: "trace"))
    }

    /// Traces that were not written, because more arrived than the disk could take, or it failed.
    public var leftOut: UInt64 { waiting.withLock { $0.leftOut } }

    /// Queues the trace. Does not wait.
    public func trace(_ trace: FrameTrace) {
        let wakes = waiting.withLock { waiting in
            guard !waiting.isFinished, waiting.traces.count < capacity else {
                waiting.leftOut += 1
                return false
            }
            waiting.traces.append(trace)
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        if wakes { queue.async { self.drain() } }
    }

    /// Writes the queued traces, closes the array and the file. Traces that arrive later are skipped.
    ///
    /// - Throws: the error that writing failed with, now or before.
    public func finish() async throws(InletError) {
        waiting.withLock { $0.isFinished = true }
        let failure = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.close()) }
        }
        if let failure { throw failure }
    }

    /// Writes until no trace is queued. Runs on the queue.
    private func drain() {
        while true {
            let traces = waiting.withLock { waiting in
                defer { waiting.traces = [] }
                if waiting.traces.isEmpty { waiting.isScheduled = false }
                return waiting.traces
            }
            guard !traces.isEmpty else { return }
            guard worker.failure == nil else {
                waiting.withLock { $0.leftOut += UInt64(traces.count) }
                continue
            }
            for trace in traces { worker.encoder.encode(trace) }
            write()
        }
    }

    /// Closes the file. Runs on the queue.
    private func close() -> InletError? {
        guard !worker.isClosed else { return worker.failure }
        worker.isClosed = true
        drain()
        worker.encoder.finish(framesLeftOut: leftOut)
        write()
        do throws(InletError) {
            try worker.file.finish()
        } catch {
            worker.failure = worker.failure ?? error
        }
        return worker.failure
    }

    private func write() {
        let text = worker.encoder.takeText()
        guard worker.failure == nil else { return }
        do {
            try worker.file.write(text)
        } catch {
            worker.failure = InletError(wrapping: error, operation: "Writing the trace")
        }
    }
}
