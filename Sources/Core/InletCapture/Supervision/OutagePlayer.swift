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
    /// The time for which an outage lasts before placeholders are shown.
    private let delay: Duration
    private let clock: any CaptureClock
    private let dispatcher: FrameDispatcher
    private let queue: DispatchQueue
    private let converter = FrameConverter()
    private let state = Mutex(State())

    private struct State {
        var timer: (any CaptureTimer)?
        /// The time at which the next picture is due.
        var next = MonotonicTime.distantFuture
        var shown: Shown?
        var start: MonotonicTime?
        var picture: (frame: SourceFrame, look: PictureLook)?
    }

    /// The inputs of a picture.
    private struct Shown: Equatable {
        var picture: OutagePolicy.Picture
        var lines: [String]
    }

    init(
        policy: OutagePolicy, disabledPicture: OutagePolicy.Picture, delay: Duration, clock: any CaptureClock,
        dispatcher: FrameDispatcher, queue: DispatchQueue
    ) {
        self.policy = policy
        self.disabledPicture = disabledPicture
        self.delay = delay
        self.clock = clock
        self.dispatcher = dispatcher
        self.queue = queue
    }

    /// Shows the placeholder of a state, or nothing.
    func show(_ placeholder: CapturerStateMachine.Placeholder, in capturerState: CapturerState, now: MonotonicTime) {
        let picture: OutagePolicy.Picture
        var start: MonotonicTime?
        switch placeholder {
        case .nothing: picture = .nothing
        case .disabled: picture = disabledPicture
        case .outage(let since):
            picture = policy.picture
            start = since + delay
        }
        guard picture != .nothing else {
            stop()
            return
        }
        state.withLock { state in
            let shown = Shown(picture: picture, lines: picture == .text ? capturerState.placeholderLines : [])
            if state.shown != shown { state.picture = nil }
            state.shown = shown
            state.start = start
            guard state.timer == nil else { return }
            state.next = max(now, start ?? now)
            let timer = clock.makeTimer(on: queue) { [weak self] in self?.timerFired() }
            timer.set(for: state.next, leeway: Self.leeway)
            state.timer = timer
        }
    }

    /// Stops showing placeholders.
    func stop() {
        state.withLock { state in
            state.timer?.cancel()
            state = State()
        }
    }

    private static let leeway = Duration.milliseconds(2)

    /// The interval between pictures, in nanoseconds.
    private var interval: Int64 {
        let rate = max(policy.frameRate, Rational(1, 3600))
        let interval = rate.reciprocal.map { MediaTime(ticks: 1, timeBase: $0).nanoseconds } ?? 200_000_000
        return max(1_000_000, interval)
    }

    private func timerFired() {
        playOne()
        let now = clock.now
        state.withLock { state in
            // From the scheduled time, so that the rate does not drift. Pictures whose time has passed are skipped.
            let late = max(0, (now - state.next).wholeNanoseconds)
            state.next = state.next + .nanoseconds((late / interval + 1) * interval)
            state.timer?.set(for: state.next, leeway: Self.leeway)
        }
    }

    /// Offers the current picture, once.
    func playOne() {
        // A size that is not known at the moment must not be guessed.
        guard let last = dispatcher.lastPicture else { return }
        let look = last.look ?? PictureLook(size: policy.size, colorSpace: PlaceholderText.colorSpace)
        let (shown, start, known) = state.withLock { ($0.shown, $0.start, $0.picture) }
        guard let shown else { return }
        var picture = known
        if picture?.look != look {
            picture = makePicture(shown, look, frame: last.frame).map { ($0, look) }
            state.withLock { if $0.shown == shown { $0.picture = picture } }
        }
        guard let picture else { return }
        dispatcher.offerPlaceholder(picture.frame, outageFrom: start)
    }

    /// Returns the picture to show; nil if it cannot be made now.
    ///
    /// Its memory is not pooled: a picture is made only when its content has changed, and a sink that is stuck may hold
    /// any number of earlier ones.
    ///
    /// - Parameters:
    ///   - look: the size, colour space, rotation and pixel shape of the source's pictures, so that sinks continue as
    ///     with the source's pictures.
    ///   - frame: the source's newest frame, if it is kept.
    private func makePicture(_ shown: Shown, _ look: PictureLook, frame: SourceFrame?) -> SourceFrame? {
        var buffer: I420Buffer?
        var colorSpace = look.colorSpace
        switch shown.picture {
        case .hold:
            guard let frame, let held = try? converter.i420(from: frame, pool: I420BufferPool(capacity: 1))
            else { return nil }
            (buffer, colorSpace) = (held.buffer, held.colorSpace)
        case .text: buffer = text(shown.lines, look)
        case .black, .nothing:
            guard var draft = try? I420Draft(size: look.shape.size) else { return nil }
            draft.fill(y: colorSpace.range == .full ? 0 : 16, u: 128, v: 128)
            buffer = draft.publish()
        }
        guard let buffer else { return nil }
        var picture = SourceFrame(
            buffer, pts: nil, sequence: 0, colorSpace: colorSpace, rotation: look.shape.rotation)
        picture.sampleAspectRatio = look.shape.sampleAspectRatio
        return picture
    }

    /// Draws text that is upright when the picture is rotated as the source's are.
    private func text(_ lines: [String], _ look: PictureLook) -> I420Buffer? {
        let (size, rotation) = (look.shape.size, look.shape.rotation)
        guard var draft = try? I420Draft(size: rotation.swapsDimensions ? size.transposed : size) else { return nil }
        draft.fill(y: PlaceholderText.background, u: 128, v: 128)
        PlaceholderText.draw(lines, into: &draft)
        let back = Rotation(rawValue: (360 - rotation.rawValue) % 360) ?? .none
        return try? converter.rotated(draft.publish(), by: back, pool: I420BufferPool(capacity: 1))
    }
}

extension CapturerState {
    /// The lines of text on a placeholder.
    var placeholderLines: [String] {
        switch self {
        case .idle, .ended: []
        case .opening: ["connecting"]
        case .live, .stalled: ["no picture"]
        case .waiting(let attempt, _): ["no signal", "attempt \(attempt)"]
        case .interrupted(let reason): ["interrupted", reason]
        case .paused: ["paused"]
        case .unwatched: ["not watched"]
        case .disabled: ["camera off"]
        }
    }
}
