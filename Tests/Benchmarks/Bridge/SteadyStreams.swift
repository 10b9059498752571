import Glibc
import Inlet
import Synchronization

/// Any number of live streams of one address for a long time, each with a counting sink. Once a second it reports the
/// process's resources and the pictures of each stream. `Scripts/soak` runs it, restarts the server, and judges the
/// results.
enum SteadyStreams {
    static func measure(_ address: String, count: Int, seconds: Int) async throws {
        var configuration = CapturerConfiguration.quiet
        configuration.retry.maximumDelay = .seconds(1)
        let capturers = try (0..<count).map { _ in
            Capturer(try PluginRegistry.standard.source(address), configuration: configuration)
        }
        let counts = capturers.map { capturer in
            let count = Count()
            capturer.attach(Counter(count))
            return count
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for capturer in capturers { group.addTask { _ = try await capturer.run() } }
            let clock = ContinuousClock()
            let start = clock.now
            for second in 1...max(1, seconds) {
                try await clock.sleep(until: start + .seconds(second))
                report(second, counts)
            }
            for capturer in capturers { capturer.stop() }
            try await group.waitForAll()
        }
    }

    /// Prints a JSON object.
    private static func report(_ second: Int, _ counts: [Count]) {
        let figures = ProcessFigures.now()
        let frames = counts.map { String($0.frames.load(ordering: .relaxed)) }.joined(separator: ",")
        print(
            "{\"second\":\(second),\"threads\":\(figures.threads),\"descriptors\":\(figures.descriptors),"
                + "\"heap\":\(figures.heapBytes),\"cpu_s\":\(figures.cpuSeconds),\"frames\":[\(frames)]}")
        fflush(nil)
    }

    private final class Count: Sendable {
        let frames = Atomic(0)
    }

    private final class Counter: FrameSink {
        private let count: Count
        init(_ count: Count) { self.count = count }
        func consume(_ frame: VideoFrame) { count.frames.add(1, ordering: .relaxed) }
    }
}
