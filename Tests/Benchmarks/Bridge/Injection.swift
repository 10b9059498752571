import CBare
import Foundation
import Inlet
import Synchronization

/// The time from a picture's push into an injector to its arrival in a sink. It passes through two threads: the capture
/// thread and the sink's thread.
enum Injection {
    private static let rounds = 5

    static func measure() async throws {
        for (name, interval, frames) in [("1 ms", 1_000_000, 1000), ("33 ms", 33_333_333, 60)] {
            var injected = HandOff.Samples()
            var bare = HandOff.Samples()
            var copied = 0
            for _ in 0..<rounds {
                bare.add(HandOff.condition(frames, interval))
                let (samples, count) = try await run(frames, interval)
                injected.add(samples)
                copied += count
            }
            report(
                "injected every \(name)",
                [
                    "inject_p50_us": injected.quantile(0.5), "bare_p50_us": bare.quantile(0.5),
                    "inject_p99_us": injected.quantile(0.99), "bare_p99_us": bare.quantile(0.99),
                    "inject_cpu_us_a_frame": injected.cpuMicroseconds, "bare_cpu_us_a_frame": bare.cpuMicroseconds,
                    "frames": Double(injected.latencies.count), "copied": Double(copied),
                ])
        }
    }

    /// Pushes a number of pictures as fast as they are accepted, so that allocations can be counted from outside.
    static func push(_ frames: Int) async throws { _ = try await run(frames, 200_000) }

    private final class StampingSink: FrameSink {
        private let box: Box
        private let address: UInt
        private let clock = SystemClock()
        private var own: [Double] = []
        private var copied = 0

        final class Box: Sendable { let result = Mutex<(times: [Double], copied: Int)>(([], 0)) }

        init(_ box: Box, _ frames: Int, pushed: I420Buffer) {
            self.box = box
            address = unsafe UInt(bitPattern: pushed.baseAddress(of: .y))
            own.reserveCapacity(frames)
        }

        func consume(_ frame: VideoFrame) {
            let now = clock.now.nanoseconds
            if let sent = frame.pts?.ticks { own.append(Double(now - sent) / 1000) }
            if unsafe UInt(bitPattern: frame.buffer.baseAddress(of: .y)) != address { copied += 1 }
        }

        func finish() { box.result.withLock { $0 = (own, copied) } }
    }

    private static func run(_ frames: Int, _ interval: Int) async throws -> (samples: HandOff.Samples, copied: Int) {
        let size = ImageSize(width: 1920, height: 1080)
        var draft = try I420Draft(size: size)
        draft.fillBlack()
        let picture = draft.publish()
        let injector = try FrameInjector(InjectorConfiguration(size: size))
        let capturer = Capturer(InjectedSourceConfiguration(injector), configuration: .quiet)
        let box = StampingSink.Box()
        capturer.attach(StampingSink(box, frames, pushed: picture), queue: .latest)
        let before = ProcessFigures.now().cpuSeconds
        async let ended = capturer.run()
        while !injector.wants.isActive { try await Task.sleep(for: .milliseconds(1)) }
        try await onThread {
            let clock = SystemClock()
            let start = clock.now
            for frame in 1...max(1, frames) {
                _ = clock.wait(until: start + .nanoseconds(frame * interval), wakeUpDescriptor: -1)
                try injector.push(
                    picture, pts: MediaTime(ticks: clock.now.nanoseconds, timeBase: Rational(1, 1_000_000_000)))
            }
            // Waits for the arrival of the last picture.
            _ = clock.wait(until: clock.now + .milliseconds(50), wakeUpDescriptor: -1)
        }
        injector.end()
        _ = try await ended
        let result = box.result.withLock { $0 }
        return (
            HandOff.Samples(latencies: result.times, cpu: ProcessFigures.now().cpuSeconds - before), result.copied
        )
    }

    /// Runs a function on a separate thread, like an application's producer.
    private static func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let thread = Thread { continuation.resume(with: Result { try body() }) }
            thread.start()
        }
    }
}
