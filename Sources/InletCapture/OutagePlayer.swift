import Dispatch
import InletConvert
import InletCore
import Synchronization

/// Shows placeholders while there are no frames, by the ``OutagePolicy``.
///
/// Confined to the supervisor's queue.
final class OutagePlayer: Sendable {
    private let policy: OutagePolicy
    private let disabledPicture: OutagePolicy.Picture
    private let dispatcher: FrameDispatcher
    private let queue: DispatchQueue
    private let converter = FrameConverter()
    /// The picture that is shown, and the one that the next may be drawn into.
    private let pool = I420BufferPool(capacity: 3)
    private let state = Mutex(State())

    private struct State {
        var timer: (any DispatchSourceTimer)?
        var shown: Shown?
        var start: MonotonicTime?
        var picture: SourceFrame?
    }

    /// What a picture depends on.
    private struct Shown: Equatable {
        var picture: OutagePolicy.Picture
        var lines: [String]
    }

    init(
        policy: OutagePolicy, disabledPicture: OutagePolicy.Picture, dispatcher: FrameDispatcher, queue: DispatchQueue
    ) {
        self.policy = policy
        self.disabledPicture = disabledPicture
        self.dispatcher = dispatcher
        self.queue = queue
    }

    /// Shows what belongs to a state, or nothing.
    ///
    /// - Parameter start: when the placeholders of an outage begin; nil where there is none.
    func show(_ capturerState: CapturerState, from start: MonotonicTime?, isDisabled: Bool, now: MonotonicTime) {
        let picture = isDisabled ? disabledPicture : start == nil ? .nothing : policy.picture
        guard picture != .nothing else {
            stop()
            return
        }
        let delay = isDisabled ? .zero : max(.zero, start.map { $0 - now } ?? .zero)
        state.withLock { state in
            let shown = Shown(picture: picture, lines: picture == .text ? capturerState.placeholderLines : [])
            if state.shown != shown { state.picture = nil }
            state.shown = shown
            state.start = isDisabled ? nil : start
            guard state.timer == nil else { return }
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.setEventHandler { [weak self] in self?.playOne() }
            timer.schedule(
                deadline: .now() + .nanoseconds(Int(clamping: delay.wholeNanoseconds)), repeating: interval,
                leeway: .milliseconds(2))
            timer.activate()
            state.timer = timer
        }
    }

    /// Shows no more placeholders.
    func stop() {
        state.withLock { state in
            state.timer?.cancel()
            state = State()
        }
    }

    private var interval: DispatchTimeInterval {
        let rate = max(policy.frameRate, Rational(1, 3600))
        let interval = rate.reciprocal.map { MediaTime(ticks: 1, timeBase: $0).nanoseconds } ?? 200_000_000
        return .nanoseconds(Int(clamping: max(1_000_000, interval)))
    }

    private func playOne() {
        let (shown, start, known) = state.withLock { ($0.shown, $0.start, $0.picture) }
        guard let shown else { return }
        guard let picture = known ?? makePicture(shown) else { return }
        if known == nil { state.withLock { if $0.shown == shown { $0.picture = picture } } }
        dispatcher.offerPlaceholder(
            picture, outageFrom: start,
            format: SourceFormat(
                size: picture.size, pixelFormat: .yuv420p, frameRate: policy.frameRate,
                timeBase: Rational(1, 1_000_000_000), pacing: .live))
    }

    /// The picture to show; nil where it cannot be made now.
    private func makePicture(_ shown: Shown) -> SourceFrame? {
        let last = dispatcher.lastPicture
        if shown.picture == .hold {
            guard let frame = last?.frame, let held = try? converter.i420(from: frame, pool: pool) else { return nil }
            var picture = SourceFrame(
                held.buffer, pts: nil, sequence: 0, colorSpace: held.colorSpace, rotation: frame.rotation)
            picture.sampleAspectRatio = frame.sampleAspectRatio
            return picture
        }
        guard var draft = try? pool.makeBuffer(size: last?.size ?? policy.size) else { return nil }
        if shown.picture == .text {
            draft.fill(y: PlaceholderText.background, u: 128, v: 128)
            PlaceholderText.draw(shown.lines, into: &draft)
        } else {
            draft.fillBlack()
        }
        return SourceFrame(draft.publish(), pts: nil, sequence: 0, colorSpace: PlaceholderText.colorSpace)
    }
}

extension CapturerState {
    /// What a placeholder says.
    var placeholderLines: [String] {
        switch self {
        case .idle, .ended: []
        case .opening: ["connecting"]
        case .live, .stalled: ["no picture"]
        case .waiting(let attempt, _): ["no signal", "attempt \(attempt)"]
        case .interrupted(let reason): ["interrupted", reason]
        case .paused: ["paused"]
        case .disabled: ["camera off"]
        }
    }
}
