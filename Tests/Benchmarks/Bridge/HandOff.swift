import CBare
import Inlet
import Synchronization

/// The time from a source's frame to its arrival in a sink, compared with a mutex and a condition variable between two
/// bare threads.
///
/// Both have the same pace and are measured in turns, because the machine's load changes from second to second.
enum HandOff {
    private static let rounds = 5

    static func measure() async throws {
        for (name, interval, frames) in [("1 ms", 1_000_000, 1000), ("33 ms", 33_333_333, 60)] {
            var bridge = Samples()
            var bare = Samples()
            for _ in 0..<rounds {
                bare.add(condition(frames, interval))
                bridge.add(try await capturer(frames, interval))
            }
            report(
                "hand-off every \(name)",
                [
                    "bridge_p50_us": bridge.quantile(0.5), "bare_p50_us": bare.quantile(0.5),
                    "p50_ratio": bridge.quantile(0.5) / bare.quantile(0.5), "bridge_p99_us": bridge.quantile(0.99),
                    "bare_p99_us": bare.quantile(0.99), "p99_ratio": bridge.quantile(0.99) / bare.quantile(0.99),
                    "bridge_cpu_us_a_frame": bridge.cpuMicroseconds, "bare_cpu_us_a_frame": bare.cpuMicroseconds,
                    "cpu_ratio": bridge.cpuMicroseconds / bare.cpuMicroseconds,
                ])
        }
    }

    struct Samples {
        var latencies: [Double] = []
        var cpu = 0.0

        mutating func add(_ other: Samples) {
            latencies += other.latencies
            cpu += other.cpu
        }

        func quantile(_ quantile: Double) -> Double {
            let sorted = latencies.sorted()
            return sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * quantile))]
        }

        var cpuMicroseconds: Double { cpu * 1e6 / Double(max(1, latencies.count)) }
    }

    // MARK: The bridge

    /// Yields a still picture at a steady pace, stamped with the current time.
    private final class PacedSource: FrameSource {
        private let configuration: PacedConfiguration
        private var picture: I420Buffer?
        private var start: MonotonicTime?
        private var count: UInt64 = 0

        init(_ configuration: PacedConfiguration) { self.configuration = configuration }

        func open(_ context: SourceContext) throws -> SourceFormat {
            var draft = try I420Draft(size: ImageSize(width: 64, height: 64))
            draft.fillBlack()
            picture = draft.publish()
            return SourceFormat(
                size: ImageSize(width: 64, height: 64), pixelFormat: .yuv420p, timeBase: Rational(1, 1_000_000_000),
                pacing: .live)
        }

        func next(_ context: SourceContext) throws -> SourceItem? {
            guard let picture, count < configuration.frames else { return nil }
            let start = start ?? context.clock.now
            self.start = start
            count += 1
            try context.sleep(until: start + .nanoseconds(Int(count) * configuration.interval))
            let now = context.clock.now
            return .frame(
                SourceFrame(
                    picture, pts: MediaTime(ticks: now.nanoseconds, timeBase: Rational(1, 1_000_000_000)),
                    sequence: count - 1))
        }

        func close() {}
    }

    private struct PacedConfiguration: FrameSourceConfiguration {
        var frames: Int
        var interval: Int
        var redactedURI: String { "paced:" }
        func makeSource() -> any FrameSource { PacedSource(self) }
    }

    private final class StampingSink: FrameSink {
        private let box: Box
        final class Box: Sendable { let times = Mutex<[Double]>([]) }
        private var own: [Double] = []
        private let clock = SystemClock()
        init(_ box: Box, _ frames: Int) {
            self.box = box
            own.reserveCapacity(frames)
        }
        func consume(_ frame: VideoFrame) {
            let now = clock.now.nanoseconds
            if let sent = frame.pts?.ticks { own.append(Double(now - sent) / 1000) }
        }
        func finish() { box.times.withLock { $0 = own } }
    }

    private static func capturer(_ frames: Int, _ interval: Int) async throws -> Samples {
        let capturer = Capturer(PacedConfiguration(frames: frames, interval: interval), configuration: .quiet)
        let box = StampingSink.Box()
        capturer.attach(StampingSink(box, frames), queue: .latest)
        let before = ProcessFigures.now().cpuSeconds
        try await capturer.run()
        return Samples(latencies: box.times.withLock { $0 }, cpu: ProcessFigures.now().cpuSeconds - before)
    }

    // MARK: Two bare threads

    static func condition(_ frames: Int, _ interval: Int) -> Samples {
        var nanoseconds = [Int64](repeating: 0, count: frames)
        let before = ProcessFigures.now().cpuSeconds
        let count = unsafe nanoseconds.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.withMemoryRebound(to: CLongLong.self) {
                unsafe bare_handoff(Int32(frames), Int64(interval), $0.baseAddress)
            }
        }
        return Samples(
            latencies: nanoseconds.prefix(Int(count)).map { Double($0) / 1000 },
            cpu: ProcessFigures.now().cpuSeconds - before)
    }
}
