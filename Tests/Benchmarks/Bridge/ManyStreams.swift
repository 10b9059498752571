import CBare
import Inlet

/// 64 live sources at 30 frames a second with 64 `latest` sinks, next to the same number of threads that only keep the
/// same pace.
enum ManyStreams {
    private static let count = 64
    private static let seconds = 10

    static func measure() async throws {
        let sleepers = try await cost { bare_sleepers(Int32(count), Int32(seconds), 30) }
        var statistics: [CaptureStatistics] = []
        var threads = 0
        let streams = try await cost {
            let capturers = try (0..<count).map { _ in
                var configuration = CapturerConfiguration.quiet
                configuration.durationLimit = .seconds(seconds)
                let capturer = Capturer(
                    try PluginRegistry.standard.source("pattern:smpte?size=320x240&fps=30"),
                    configuration: configuration)
                capturer.attach(CountingSink())
                return capturer
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for capturer in capturers { group.addTask { _ = try await capturer.run() } }
                try await Task.sleep(for: .seconds(seconds / 2))
                threads = ProcessFigures.now().threads
                try await group.waitForAll()
            }
            statistics = capturers.map(\.statistics)
        }
        let delivered = statistics.map { Double($0.delivered) / Double(seconds) }.sorted()
        let frames = statistics.reduce(0.0) { $0 + Double($1.delivered) }
        let handOff = statistics.flatMap(\.sinks).map(\.deliveryLatency).reduce(
            LatencyDistribution(), +)
        let lost = statistics.reduce(0.0) { $0 + Double($1.drops.values.reduce(0, +)) }
        report(
            "64 streams",
            [
                "fps_min": delivered.first ?? 0, "fps_median": delivered[count / 2], "frames_lost": lost,
                "cpu_percent_a_stream": streams.cpu / Double(seconds) / Double(count) * 100,
                "cpu_percent_a_sleeping_thread": sleepers.cpu / Double(seconds) / Double(count) * 100,
                "wake_ups_a_frame": Double(streams.switches) / frames,
                "wake_ups_a_sleep": Double(sleepers.switches) / Double(count * seconds * 30),
                "hand_off_p50_us": microseconds(handOff.value(at: 0.5)),
                "hand_off_p99_us": microseconds(handOff.value(at: 0.99)), "threads": Double(threads),
            ])
    }

    private static func cost(_ body: () async throws -> Void) async throws -> (cpu: Double, switches: Int) {
        let before = ProcessFigures.now()
        try await body()
        let after = ProcessFigures.now()
        return (after.cpuSeconds - before.cpuSeconds, after.voluntarySwitches - before.voluntarySwitches)
    }

    private static func microseconds(_ duration: Duration?) -> Double {
        duration.map { Double($0.wholeNanoseconds) / 1000 } ?? .nan
    }
}
