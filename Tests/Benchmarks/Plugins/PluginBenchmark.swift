import Dispatch
import Glibc
import InletCore
import InletPlugins
import Logging

/// Measures what a picture of 1920x1080 costs on its way from a plug-in, beyond filling it: in a process of its own, in
/// this one, and from a source that is built in.
///
///     plugin-benchmark LIBRARY [FRAMES]
///
/// The library is `Tests/Plugins/empty.c`, compiled. Processor time is that of this process and of the child together.
@main enum PluginBenchmark {
    static func main() throws {
        guard CommandLine.arguments.count > 1 else {
            print("usage: plugin-benchmark LIBRARY [FRAMES]")
            exit(64)
        }
        let frames = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 20_000 : 20_000
        let program = PluginProgram(name: "empty", code: .library(CommandLine.arguments[1]))
        func configuration(isInProcess: Bool) -> PluginSourceConfiguration {
            PluginSourceConfiguration(
                program: program, isInProcess: isInProcess, scheme: "empty", address: "", options: [],
                redactedURI: "empty:")
        }
        for round in 1...3 {
            let child = try measure(configuration(isInProcess: false).makePacketSource(), frames: frames)
            let loaded = try measure(configuration(isInProcess: true).makePacketSource(), frames: frames)
            let builtIn = try measure(BuiltInSource(), frames: frames)
            print("round \(round): child \(text(child)), in process \(text(loaded)), built in \(text(builtIn))")
        }
    }

    private static func text(_ microseconds: Double) -> String {
        "\((microseconds * 100).rounded() / 100) us"
    }

    /// Returns the processor time for a frame, in microseconds.
    private static func measure(_ source: any FrameSource, frames: Int) throws -> Double {
        // One that never becomes readable, as where nothing is cancelled.
        var ends: [Int32] = [-1, -1]
        _ = unsafe pipe(&ends)
        defer { for end in ends { close(end) } }
        let context = SourceContext(
            clock: BenchmarkClock(), wakeUpDescriptor: ends[0], logger: Logger(label: "benchmark"))
        _ = try source.open(context)
        // The first ones also touch the memory.
        for _ in 0..<100 { _ = try source.next(context) }
        let start = processorTime(Int32(RUSAGE_SELF.rawValue))
        let childStart = processorTime(Int32(RUSAGE_CHILDREN.rawValue))
        for _ in 0..<frames { _ = try source.next(context) }
        let own = processorTime(Int32(RUSAGE_SELF.rawValue)) - start
        source.close()
        // A child counts once it has ended: its start is among that, spread over all frames.
        return (own + processorTime(Int32(RUSAGE_CHILDREN.rawValue)) - childStart) / Double(frames)
    }

    private static func processorTime(_ who: Int32) -> Double {
        var usage = rusage()
        unsafe getrusage(who, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) * 1e6 + Double($1.tv_usec) }
    }
}

/// A source of pooled pictures that it does not fill either.
private final class BuiltInSource: FrameSource {
    private let pool = I420BufferPool(capacity: 8)
    private var count: UInt64 = 0

    func open(_ context: SourceContext) throws -> SourceFormat {
        SourceFormat(
            size: ImageSize(width: 1920, height: 1080), pixelFormat: .yuv420p, timeBase: Rational(1, 30),
            pacing: .unpaced)
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        defer { count += 1 }
        let draft = try pool.makeBuffer(size: ImageSize(width: 1920, height: 1080))
        return .frame(
            SourceFrame(
                draft.publish(), pts: MediaTime(ticks: Int64(count), timeBase: Rational(1, 30)), sequence: count))
    }

    func close() {}
}

/// The machine's monotonic clock, for contexts outside of a capture.
private struct BenchmarkClock: CaptureClock {
    var now: MonotonicTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool { true }

    func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer {
        NoTimer()
    }

    private final class NoTimer: CaptureTimer {
        func set(for time: MonotonicTime, leeway: Duration) {}
        func cancel() {}
    }
}
