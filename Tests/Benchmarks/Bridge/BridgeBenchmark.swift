import CBare
import Glibc
import Inlet
import Logging

/// Measures the bridge: many streams at once, a stuck sink, the hand-off against a bare condition variable, and the
/// leftovers of a run.
///
/// Prints one JSON object per measurement. `Scripts/bench` runs it and shows the figures.
@main struct BridgeBenchmark {
    static func main() async throws {
        let wanted = CommandLine.arguments.dropFirst()
        if wanted.isEmpty || wanted.contains("streams") { try await ManyStreams.measure() }
        if wanted.isEmpty || wanted.contains("stuck") { try await StuckSink.measure() }
        if wanted.isEmpty || wanted.contains("handoff") { try await HandOff.measure() }
        if wanted.isEmpty || wanted.contains("cycles") { try await Cycles.measure() }
        if wanted.contains("inject") { try await Injection.measure() }
        if wanted.first == "inject-frames", wanted.count == 2 {
            try await Injection.push(Int(wanted.last ?? "") ?? 1)
        }
        if wanted.contains("encoding") { try await Encoding.measure() }
        if wanted.first == "live", wanted.count >= 4 {
            let words = Array(wanted)
            let first = wanted.count > 4 ? Int(words[4]) ?? 0 : 0
            try await LiveStreams.measure(
                words[1], streams: first..<first + (Int(words[2]) ?? 1), seconds: Int(words[3]) ?? 10)
        }
        if wanted.first == "steady", wanted.count == 4 {
            let words = Array(wanted)
            try await SteadyStreams.measure(words[1], count: Int(words[2]) ?? 1, seconds: Int(words[3]) ?? 10)
        }
    }
}

/// A sink that only counts.
final class CountingSink: FrameSink {
    func consume(_ frame: VideoFrame) {}
}

/// The resources of the process.
struct ProcessFigures {
    var cpuSeconds: Double
    var voluntarySwitches: Int
    var threads: Int
    /// Threads of captures and sinks, without the threads that Dispatch keeps.
    var inletThreads: Int
    var descriptors: Int
    var heapBytes: Int

    static func now() -> ProcessFigures {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        return unsafe ProcessFigures(
            cpuSeconds: seconds + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
            voluntarySwitches: usage.ru_nvcsw, threads: entries("/proc/self/task"),
            inletThreads: Int(bare_threads_named("inlet-")), descriptors: entries("/proc/self/fd"),
            heapBytes: Int(bare_heap_bytes()))
    }

    private static func entries(_ path: String) -> Int {
        guard let folder = unsafe opendir(path) else { return 0 }
        defer { unsafe closedir(folder) }
        var count = 0
        while let entry = unsafe readdir(folder) {
            if unsafe entry.pointee.d_name.0 != 46 { count += 1 }
        }
        return count
    }
}

/// One line of JSON.
func report(_ name: String, _ values: KeyValuePairs<String, Double>) {
    let fields = values.map { "\"\($0.key)\":\($0.value.isFinite ? ($0.value * 1000).rounded() / 1000 : -1)" }
    print("{\"measurement\":\"\(name)\",\(fields.joined(separator: ","))}")
    fflush(nil)
}

extension CapturerConfiguration {
    static var quiet: CapturerConfiguration {
        var configuration = CapturerConfiguration()
        configuration.logger = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        return configuration
    }
}
