import Inlet
import Synchronization

/// Reads the codes of pictures as they arrive. At most ``mostSamples`` are kept.
final class LatencyMeter: FrameSinkConfiguration {
    /// More than an hour at 240 pictures a second.
    static let mostSamples = 1_000_000

    private struct State {
        var samples: [LatencySample] = []
        var unreadable = 0
        /// The time of the first picture.
        var first: MonotonicTime?
        /// The time when the warm-up began: with the first picture, or with the first in which a camera has found the
        /// code.
        var start: MonotonicTime?
        var isDone = false
        /// Finds the code in pictures of a camera.
        var finder = TimecodeFinder()
    }

    private let isFilmed: Bool
    private let warmUp: Duration
    private let duration: Duration
    private let limit: Int
    private let patience: Duration
    private let onDone: Mutex<(@Sendable () -> Void)?> = Mutex(nil)
    private let state = Mutex(State())
    private let clock = SystemClock()

    /// - Parameters:
    ///   - isFilmed: whether a camera films the code, which can then be anywhere in the picture.
    ///   - warmUp: the time from the first picture during which pictures are not counted.
    ///   - duration: the time after that during which they are counted.
    ///   - limit: the number of pictures that is enough.
    ///   - patience: the time after which the measurement ends if no picture has had a code.
    init(isFilmed: Bool = false, warmUp: Duration, duration: Duration, limit: Int, patience: Duration) {
        self.isFilmed = isFilmed
        (self.warmUp, self.duration, self.patience) = (warmUp, duration, patience)
        self.limit = min(limit, Self.mostSamples)
    }

    /// Sets the function to call, once and on the sink's queue, when there are enough pictures.
    func onDone(_ body: @escaping @Sendable () -> Void) { onDone.withLock { $0 = body } }

    /// The codes read, and the number of pictures without one.
    var results: (samples: [LatencySample], unreadable: Int) { state.withLock { ($0.samples, $0.unreadable) } }

    /// Whether there are enough pictures.
    var isDone: Bool { state.withLock { $0.isDone } }

    var redactedURI: String { "latency" }

    func makeSink() -> any FrameSink { Sink(meter: self) }

    private func take(_ frame: VideoFrame) {
        let now = clock.now
        // Placeholders during an outage of the source contain no new code.
        guard !frame.flags.contains(.placeholder) else { return }
        // The capturer calls this on one thread.
        let code =
            isFilmed ? state.withLock { $0.finder.read(frame.buffer) } : TimecodeReader.read(frame.buffer)
        let isDone = state.withLock { state in
            let first = state.first ?? now
            state.first = first
            guard !state.isDone else { return false }
            if state.start == nil, !isFilmed || code != nil { state.start = now }
            let start = state.start ?? .distantFuture
            if now - start >= warmUp {
                if let code {
                    state.samples.append(
                        LatencySample(
                            number: code.frame, drawn: code.captureTime, arrived: now, timestamp: frame.timestamp))
                } else {
                    state.unreadable += 1
                }
            } else if state.start == nil {
                state.unreadable += 1
            }
            let isOver = now - start >= warmUp + duration || state.samples.count >= limit
            let isVain = state.samples.isEmpty && now - first >= warmUp + patience
            state.isDone = isOver || isVain
            return state.isDone
        }
        guard isDone else { return }
        onDone.withLock { body in
            body?()
            body = nil
        }
    }

    private final class Sink: FrameSink {
        private let meter: LatencyMeter

        init(meter: LatencyMeter) { self.meter = meter }

        func start(_ format: VideoFormat, _ context: SinkContext) {}
        func consume(_ frame: VideoFrame) { meter.take(frame) }
    }
}
