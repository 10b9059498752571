public import InletCore
import Synchronization

extension RecordingSink {
    /// The record of the calls that one or more sinks received, in order. Safe from any thread.
    public final class Log: Sendable {
        /// One call of the sink.
        public enum Event: Sendable {
            case start(VideoFormat)
            case frame(RecordedFrame)
            case finish
        }

        private struct State {
            var events: [Event] = []
            var frameCount = 0
            var isFinished = false
            var kept: [VideoFrame] = []
            var observers: [Observer] = []
        }

        private struct Observer {
            let isSatisfied: @Sendable (_ frames: Int, _ finished: Bool) -> Bool
            let continuation: CheckedContinuation<Void, Never>
        }

        private let state = Mutex(State())

        public init() {}

        /// The calls so far, in order.
        public var events: [Event] { state.withLock { $0.events } }

        /// The frames among the events.
        public var frames: [RecordedFrame] {
            events.compactMap { if case .frame(let frame) = $0 { frame } else { nil } }
        }

        /// The formats passed to `start`: one, unless several sinks share the log.
        public var formats: [VideoFormat] {
            events.compactMap { if case .start(let format) = $0 { format } else { nil } }
        }

        /// Whether `finish` was called.
        public var isFinished: Bool { state.withLock { $0.isFinished } }

        /// The latest frames with their pixels, at most ``RecordingSink/Behavior/keptFrames``.
        public var keptFrames: [VideoFrame] { state.withLock { $0.kept } }

        /// Releases the kept frames.
        public func releaseKeptFrames() {
            // The frames are released outside of the lock, because their memory returns to pools, which have their own
            // locks.
            let frames = state.withLock { state in
                defer { state.kept = [] }
                return state.kept
            }
            withExtendedLifetime(frames) {}
        }

        /// Suspends until at least `count` frames were recorded, or the sink was finished.
        public func frames(atLeast count: Int) async {
            await suspend { frames, finished in frames >= count || finished }
        }

        /// Suspends until the sink was finished.
        public func finished() async { await suspend { _, finished in finished } }

        func record(_ event: Event, keeping frame: VideoFrame? = nil, limit: Int = 0) {
            let (satisfied, released) = state.withLock { state in
                state.events.append(event)
                var released: VideoFrame?
                switch event {
                case .start: state.isFinished = false
                case .frame: state.frameCount += 1
                case .finish: state.isFinished = true
                }
                if let frame, limit > 0 {
                    state.kept.append(frame)
                    if state.kept.count > limit { released = state.kept.removeFirst() }
                }
                let (frames, finished) = (state.frameCount, state.isFinished)
                let satisfied = state.observers.filter { $0.isSatisfied(frames, finished) }
                state.observers.removeAll { $0.isSatisfied(frames, finished) }
                return (satisfied, released)
            }
            withExtendedLifetime(released) {}
            for observer in satisfied { observer.continuation.resume() }
        }

        private func suspend(until isSatisfied: @escaping @Sendable (Int, Bool) -> Bool) async {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if isSatisfied(state.frameCount, state.isFinished) { return true }
                    state.observers.append(Observer(isSatisfied: isSatisfied, continuation: continuation))
                    return false
                }
                if isThere { continuation.resume() }
            }
        }
    }
}
