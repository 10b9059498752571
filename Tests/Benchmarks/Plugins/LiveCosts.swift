import InletCapture
import InletCore
import InletPluginLoader
import Logging

/// The processor time of eight live sources of 1920x1080 at 30 frames a second, each with a separate capturer and a
/// sink that drops frames. The sources run as plug-ins in separate processes, and built in.
enum LiveCosts {
    private static let (count, rate) = (8, 30)

    /// - Returns: the processor time of one source, in percent of a core, and the received frames per second.
    static func measure(_ library: String, seconds: Int) async throws -> [(name: String, value: Double)] {
        let plugin = PluginBenchmark.configuration(
            library, isInProcess: false, [("size", "1920x1080"), ("rate", "\(rate)")])
        let child = try await run(plugin, seconds: seconds)
        let builtIn = try await run(BuiltInConfiguration(rate: rate), seconds: seconds)
        return [
            ("child_percent", child.percent), ("built_in_percent", builtIn.percent),
            ("child_fps", child.framesPerSecond), ("built_in_fps", builtIn.framesPerSecond),
        ]
    }

    private static func run(
        _ source: any FrameSourceConfiguration, seconds: Int
    ) async throws -> (percent: Double, framesPerSecond: Double) {
        var configuration = CapturerConfiguration()
        configuration.retry = .never
        configuration.logger = Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        let capturers = (0..<count).map { _ in Capturer(source, configuration: configuration) }
        for capturer in capturers { capturer.attach(Sink()) }
        func frames() -> Double { capturers.reduce(0) { $0 + Double($1.statistics.captured) } }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for capturer in capturers { group.addTask { _ = try await capturer.run() } }
            // Excludes the time of the starts.
            try await Task.sleep(for: .seconds(2))
            let clock = ContinuousClock()
            let (start, before, framesBefore) = (clock.now, ProcessorTime.now(), frames())
            try await Task.sleep(for: .seconds(seconds))
            let (time, after, framesAfter) = (clock.now - start, ProcessorTime.now(), frames())
            for capturer in capturers { capturer.stop() }
            try await group.waitForAll()
            let elapsed = time / .seconds(1)
            return (
                (after - before) / elapsed / Double(count) * 100, (framesAfter - framesBefore) / elapsed / Double(count)
            )
        }
    }

    private struct BuiltInConfiguration: FrameSourceConfiguration {
        var rate: Int
        var redactedURI: String { "built-in:" }
        func makeSource() -> any FrameSource {
            BuiltInSource(size: ImageSize(width: 1920, height: 1080), rate: rate)
        }
    }

    private final class Sink: FrameSink {
        func consume(_ frame: VideoFrame) {}
    }
}
