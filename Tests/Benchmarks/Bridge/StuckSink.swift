import Dispatch
import Inlet

/// Eight sinks on one source, one of which never returns from its first frame.
enum StuckSink {
    private final class Stuck: FrameSink {
        let release: DispatchSemaphore
        init(_ release: DispatchSemaphore) { self.release = release }
        func consume(_ frame: VideoFrame) { release.wait() }
    }

    static func measure() async throws {
        var configuration = CapturerConfiguration.quiet
        configuration.frameLimit = 300
        configuration.stopTimeout = .seconds(1)
        let capturer = Capturer(
            try PluginRegistry.standard.source("pattern:ball?size=640x360&fps=60"), configuration: configuration)
        let release = DispatchSemaphore(value: 0)
        capturer.attach(Stuck(release), named: "stuck", queue: .latest)
        for index in 1...7 {
            capturer.attach(CountingSink(), named: "sink \(index)", queue: .buffered(8, dropping: .oldest))
        }
        let run = Task { try await capturer.run() }
        while capturer.statistics.captured < 300 { try await Task.sleep(for: .milliseconds(50)) }
        try await Task.sleep(for: .milliseconds(200))
        let statistics = capturer.statistics
        release.signal()
        release.signal()
        _ = try? await run.value
        let others = statistics.sinks.filter { $0.name != "stuck" }
        report(
            "one stuck sink of 8",
            [
                "captured": Double(statistics.captured),
                "delivered_to_others_min": others.map { Double($0.delivered) }.min() ?? 0,
                "dropped_by_others": others.reduce(0) { $0 + Double($1.drops.values.reduce(0, +)) },
            ])
    }
}
