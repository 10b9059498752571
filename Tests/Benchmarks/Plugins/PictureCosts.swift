import Dispatch
import Glibc
import InletCore
import InletPluginLoader
import Logging

/// The processor time for a picture, in microseconds: from a plug-in in a separate process, from one in this process,
/// and from a built-in source.
enum PictureCosts {
    /// The number of measurements of each, in turn; the median is reported.
    private static let rounds = 5

    static func measure(_ library: String, frames: Int) throws -> [(name: String, value: Double)] {
        let ways: [(name: String, size: ImageSize, source: (ImageSize) -> any FrameSource)] = [
            ("child_us", .large, { child(library, $0) }), ("child_16x16_us", .small, { child(library, $0) }),
            ("in_process_us", .large, { loaded(library, $0) }),
            ("in_process_16x16_us", .small, { loaded(library, $0) }),
            ("built_in_us", .large, { BuiltInSource(size: $0) }),
        ]
        var figures = [[Double]](repeating: [], count: ways.count)
        for _ in 0..<rounds {
            for (index, way) in ways.enumerated() {
                figures[index].append(try measure(way.source(way.size), frames: frames))
            }
        }
        return zip(ways, figures).map { ($0.name, $1.sorted()[rounds / 2]) }
    }

    private static func child(_ library: String, _ size: ImageSize) -> any FrameSource {
        PluginBenchmark.configuration(library, isInProcess: false, [("size", "\(size)")]).makePacketSource()
    }

    private static func loaded(_ library: String, _ size: ImageSize) -> any FrameSource {
        PluginBenchmark.configuration(library, isInProcess: true, [("size", "\(size)")]).makePacketSource()
    }

    private static func measure(_ source: any FrameSource, frames: Int) throws -> Double {
        // A pipe that never becomes readable, because nothing is cancelled.
        var ends: [Int32] = [-1, -1]
        _ = unsafe pipe(&ends)
        defer { for end in ends { close(end) } }
        let context = SourceContext(
            clock: BenchmarkClock(), wakeUpDescriptor: ends[0], logger: Logger(label: "benchmark"))
        _ = try source.open(context)
        // The first pictures also touch the memory.
        for _ in 0..<100 { _ = try source.next(context) }
        let start = ProcessorTime.now()
        for _ in 0..<frames { _ = try source.next(context) }
        let end = ProcessorTime.now()
        source.close()
        return (end - start) * 1e6 / Double(frames)
    }
}

extension ImageSize {
    fileprivate static var large: ImageSize { ImageSize(width: 1920, height: 1080) }
    fileprivate static var small: ImageSize { ImageSize(width: 16, height: 16) }
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
