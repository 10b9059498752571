import Dispatch
import InletCore
import Logging
import Synchronization

/// Keeps a source running: feeds the state machine with events and the time, and carries out its actions.
///
/// All of it runs on one serial queue, so actions happen in the order in which they were decided. The queue sleeps
/// until the next deadline: a healthy source costs one wake-up per ``CaptureTimeouts/stall``, a dead one fewer.
final class Supervisor: Sendable {
    typealias Machine = CapturerStateMachine

    /// Resolves when the source is permanently closed.
    let completion = Completion<Result<EndReason, InletError>>()

    private let source: any FrameSourceConfiguration
    private let configuration: CapturerConfiguration
    private let clock: any CaptureClock
    private let counters: SessionCounters
    private let dispatcher: FrameDispatcher
    /// The number of times the source switched to a new version of its code.
    private let updates = Atomic(UInt64(0))
    private let outage: OutagePlayer
    private let onEvent: @Sendable (CapturerEvent) -> Void
    private let queue: DispatchQueue
    /// Touched on the queue, apart from snapshots.
    private let state: Mutex<State>

    private struct State {
        var machine: Machine
        var session: CaptureSession?
        var timer: (any CaptureTimer)?
        /// The time at which the timer fires.
        var timerTime: MonotonicTime?
    }

    init(
        source: any FrameSourceConfiguration, configuration: CapturerConfiguration, clock: any CaptureClock,
        counters: SessionCounters, dispatcher: FrameDispatcher, onEvent: @escaping @Sendable (CapturerEvent) -> Void
    ) {
        self.source = source.scopedToCapturer()
        self.configuration = configuration
        self.clock = clock
        self.counters = counters
        self.dispatcher = dispatcher
        self.onEvent = onEvent
        queue = DispatchQueue(label: "inlet.supervisor")
        outage = OutagePlayer(
            policy: configuration.outage, disabledPicture: configuration.disabledPicture,
            delay: configuration.timeouts.stall, clock: clock, dispatcher: dispatcher,
            queue: queue)
        var policy = Machine.Policy()
        policy.timeouts = configuration.timeouts
        policy.retry = configuration.retry
        policy.stopTimeout = configuration.stopTimeout
        policy.closesUnwatchedAfter = configuration.closesUnwatchedAfter
        policy.maximumAbandonedThreads = max(1, configuration.maximumAbandonedThreads)
        policy.subject = source.redactedURI
        state = Mutex(State(machine: Machine(policy)))
        let timer = clock.makeTimer(on: queue) { [weak self] in self?.timerFired() }
        state.withLock { $0.timer = timer }
    }

    var figures: SupervisionFigures {
        var figures = state.withLock { $0.machine.figures }
        figures.placeholders = dispatcher.placeholders.load(ordering: .relaxed)
        figures.updates = updates.load(ordering: .relaxed)
        return figures
    }

    /// Passes an event to the state machine. Returns at once.
    func post(_ input: Machine.Input) { queue.async { self.handle(input) } }

    /// Records that receivers were added or removed, and updates the source's demand. Returns at once.
    func receiversChanged() {
        dispatcher.receiversChanged()
        updateDemand()
        watchersChanged()
    }

    /// Passes the current demand to the source. Always on the queue, so that no older demand follows a newer one.
    private func updateDemand() {
        queue.async { self.state.withLock { $0.session }?.context.setDemand(self.dispatcher.demand) }
    }

    /// Sets how far pictures are reduced. Returns at once.
    func reduce(to reduction: PictureReduction) {
        dispatcher.reduce(to: reduction)
        receiversChanged()
    }

    /// Whether any receiver takes pictures at present.
    var hasPictureWork: Bool { dispatcher.hasPictureWork }

    /// Records that a sink has got its first viewer or lost its last. Returns at once.
    func watchersChanged() {
        guard configuration.closesUnwatchedAfter != nil else { return }
        queue.async { self.handle(.watched(self.dispatcher.isWatched)) }
    }

    /// Requests a key frame of the source that is open, if there is one. Returns at once.
    func requestKeyFrame() { state.withLock { $0.session }?.context.requestKeyFrame() }

    private func handle(_ input: Machine.Input) {
        // Another sink has been attached since the last one ended.
        if case .stop(.noSinks) = input, dispatcher.hasReceivers { return }
        let (actions, session) = state.withLock { state in
            (state.machine.handle(input, at: clock.now), state.session)
        }
        var current = session
        if case .closed(let id, _) = input, id == session?.id {
            current = nil
            state.withLock { $0.session = nil }
        }
        for action in actions { perform(action, &current) }
        if case .setEnabled(let isEnabled) = input { dispatcher.setDisabled(!isEnabled) }
        let (placeholder, shown) = state.withLock { ($0.machine.placeholder, $0.machine.state) }
        outage.show(placeholder, in: shown, now: clock.now)
        schedule()
    }

    private func perform(_ action: Machine.Action, _ session: inout CaptureSession?) {
        switch action {
        case .open(let id): session = open(id)
        case .cancel(let id): if session?.id == id { session?.cancel() }
        case .pause(let id): if session?.id == id { session?.pause() }
        case .resume(let id): if session?.id == id { session?.resume() }
        case .noticeNextFrame(let id): if session?.id == id { session?.noticeNextFrame() }
        case .abandon(let id):
            dispatcher.giveUp(id)
            if session?.id == id { session = nil }
        case .tell(let event): onEvent(event)
        case .finish(let result):
            session = nil
            outage.stop()
            dispatcher.finish()
            completion.resolve(result)
        }
        state.withLock { $0.session = session }
    }

    private func open(_ id: Machine.SessionID) -> CaptureSession? {
        let delegate = CaptureSession.Delegate(
            opened: { [weak self] in
                // The packets that need no decoding depend on the format.
                self?.updateDemand()
                self?.post(.opened(id, $0))
            },
            frame: { [weak self] in self?.post(.frame(id)) },
            progress: { [weak self] in self?.post(.progress(id)) },
            paused: { [weak self] in self?.post(.paused(id)) },
            interruption: { [weak self] in self?.post(.interruption(id, $0)) },
            lag: { [weak self] in self?.onEvent(.lagging($0)) },
            decoderFailure: { [weak self] in self?.onEvent(.decoderFailed(name: $0, $1, next: $2)) },
            update: { [weak self] in self?.noteUpdate($0) },
            detection: { [weak self] in self?.onEvent(.detected($0)) },
            transportChange: { [weak self] in self?.onEvent(.transportChanged($0)) },
            closing: { [weak self] in self?.post(.closing(id, $0)) },
            closed: { [weak self] in self?.post(.closed(id, $0)) })
        do throws(InletError) {
            let session = try CaptureSession(
                id: id, source: source, configuration: configuration, clock: clock, dispatcher: dispatcher,
                delegate: delegate)
            session.context.setDemand(dispatcher.demand)
            try session.start()
            counters.follow(session.context)
            return session
        } catch {
            post(.closed(id, .failed(error.about(source.redactedURI))))
            return nil
        }
    }

    private func noteUpdate(_ update: SourceUpdate) {
        if case .taken = update { updates.add(1, ordering: .relaxed) }
        onEvent(.sourceUpdated(update))
    }

    /// Schedules the next tick that the state machine needs.
    private func schedule() {
        let now = clock.now
        let next = state.withLock { state -> MonotonicTime? in
            let next = state.machine.nextTick(at: now, operation: state.session?.operation)
            guard let next else {
                defer { state.timerTime = nil }
                return state.timerTime == nil ? nil : .distantFuture
            }
            // A timer that fires earlier checks again.
            if let planned = state.timerTime, planned <= next, planned > now { return nil }
            state.timerTime = next
            return next
        }
        guard let next else { return }
        let delay = max(.zero, next - now)
        state.withLock { $0.timer }?.set(for: next, leeway: delay / 20)
    }

    private func timerFired() {
        let operation = state.withLock { state in
            state.timerTime = nil
            return state.session?.operation
        }
        handle(.tick(operation))
    }
}
