import InletCore

/// The decisions of a capturer, without any thread, lock or clock: inputs are events with their times, and the returned
/// actions are carried out by the caller.
///
/// At most one source is open at a time, in a *session* with a number. Inputs from an earlier session are ignored.
struct CapturerStateMachine {
    /// Numbers the openings of the source.
    typealias SessionID = Int

    /// The machine's policy.
    struct Policy: Sendable {
        var timeouts = CaptureTimeouts()
        var retry = RetryPolicy()
        var stopTimeout = Duration.seconds(5)
        /// The most threads that ignore their cancellation before the run fails rather than start another.
        var maximumAbandonedThreads = 4
        /// The time for which a live source stays open without viewers; nil if it always stays open.
        var closesUnwatchedAfter: Duration?
        /// The source's URI, without credentials, for errors.
        var subject = ""
    }

    /// Something that happened.
    enum Input {
        /// Requests of the application.
        case start
        case stop(EndReason)
        case pause
        case resume
        case setEnabled(Bool)
        /// Whether any sink has use for the source now.
        case watched(Bool)
        /// Reports of a session's thread.
        case opened(SessionID, SourceFormat)
        case frame(SessionID)
        /// Data arrived, whether or not it yields a frame.
        case progress(SessionID)
        case interruption(SessionID, String?)
        case paused(SessionID)
        /// The source has ended and is about to be closed, which may take a while.
        case closing(SessionID, Outcome)
        case closed(SessionID, Outcome)
        /// Time has passed. The operation is the one that the source is running; nil if it is idle.
        case tick(SourceOperation?)
    }

    /// The way in which a session ended by itself.
    enum Outcome {
        case ended(EndReason)
        case failed(InletError)
        /// Closed because it cannot pause.
        case closedForPause
    }

    /// Something to do, in the given order.
    enum Action {
        case open(SessionID)
        case cancel(SessionID)
        case pause(SessionID)
        case resume(SessionID)
        /// The session's thread is lost; its reports are ignored.
        case abandon(SessionID)
        /// Request a notice of the session's next frame, and of its next data.
        case noticeNextFrame(SessionID)
        case tell(CapturerEvent)
        /// The source is permanently closed.
        case finish(Result<EndReason, InletError>)
    }

    let policy: Policy
    var phase = Phase.idle(stop: nil)
    /// Threads that were given up and have not ended since.
    private(set) var abandoned: Set<SessionID> = []
    var figures = SupervisionFigures()

    private(set) var isEnabled = true
    var wantsPause = false
    /// The time since which no sink has had use for the source; nil while one has.
    var unwatchedSince: MonotonicTime?
    /// Whether the source is closed, or being closed, because it has no viewers.
    var isDormant = false
    private var sessionCount = 0
    /// Whether frames have arrived, in any session.
    private var wasLive = false
    private(set) var failures = 0
    var refusals = Refusals()
    /// The current outage; nil while frames arrive, or none are wanted.
    var outage: Outage?
    var shown = CapturerState.idle
    var random: any RandomNumberGenerator & Sendable

    init(_ policy: Policy, random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.policy = policy
        self.random = random
    }

    /// Returns how long the source may go without any data before it counts as stalled, and before it is restarted; and
    /// how long without a frame although data arrives.
    static func frameAllowance(_ timeouts: CaptureTimeouts, frameInterval: Duration) -> (
        stall: Duration, restart: Duration, frame: Duration
    ) {
        let restart = max(timeouts.nextFrame, frameInterval * 3)
        return (max(timeouts.stall, frameInterval * 3), restart, restart * 3)
    }

    // MARK: Inputs

    /// Handles an input.
    ///
    /// - Returns: the actions to carry out.
    mutating func handle(_ input: Input, at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        switch input {
        case .start: start(now, &actions)
        case .stop(let reason): stop(reason, now, &actions)
        case .pause: pause(now, &actions)
        case .resume: resume(now, &actions)
        case .setEnabled(let enabled): isEnabled = enabled
        case .watched(let isWatched): watched(isWatched, now, &actions)
        case .opened(let id, let format): opened(id, format, &actions)
        case .frame(let id): frameCame(id, now, &actions)
        case .progress(let id): dataCame(id, now, &actions)
        case .interruption(let id, let reason): interrupted(id, reason, now, &actions)
        case .paused(let id): paused(id)
        case .closing(let id, let outcome): closing(id, outcome, now)
        case .closed(let id, let outcome): closed(id, outcome, now, &actions)
        case .tick(let operation): tick(now, operation, &actions)
        }
        tellState(&actions)
        return actions
    }

    private mutating func start(_ now: MonotonicTime, _ actions: inout [Action]) {
        guard case .idle(let stop) = phase else { return }
        if let stop {
            finish(.success(stop), now, &actions)
        } else if wantsPause {
            phase = .closedForPause
        } else {
            outage = Outage(start: now, isTrouble: false)
            openSession(&actions)
        }
    }

    mutating func openSession(_ actions: inout [Action]) {
        sessionCount += 1
        figures.openings += 1
        phase = .open(Session(id: sessionCount))
        // Before the source opens: its thread may deliver frames while the actions are still carried out.
        tellState(&actions)
        actions.append(.open(sessionCount))
    }

    private mutating func stop(_ reason: EndReason, _ now: MonotonicTime, _ actions: inout [Action]) {
        switch phase {
        // Sinks that end before the run do not matter: others may be attached.
        case .idle(let earlier): if reason != .noSinks { phase = .idle(stop: earlier ?? reason) }
        case .closedForPause, .waiting: finish(.success(reason), now, &actions)
        case .closing(_, .finish, _), .ended: break
        case .open, .closing: close(then: .finish(.success(reason)), now, &actions)
        }
    }

    private mutating func pause(_ now: MonotonicTime, _ actions: inout [Action]) {
        wantsPause = true
        settleHealth(until: now)
        endOutage(at: now)
        switch phase {
        case .open(var session):
            switch session.stage {
            case .awaitingFrame, .live, .stalled: pause(&session, &actions)
            // It pauses once it is open.
            case .opening, .pausing, .paused: break
            }
            phase = .open(session)
        case .waiting: phase = .closedForPause
        // The failure still counts, though the next attempt waits for the end of the pause.
        case .closing(let session, .reopen, let by): phase = .closing(session, next: .rest, by: by)
        case .idle, .closedForPause, .closing, .ended: break
        }
    }

    private func pause(_ session: inout Session, _ actions: inout [Action]) {
        session.stage = .pausing
        actions.append(.pause(session.id))
    }

    private mutating func paused(_ id: SessionID) {
        guard var session = open(id), case .pausing = session.stage else { return }
        session.stage = .paused
        phase = .open(session)
    }

    private mutating func resume(_ now: MonotonicTime, _ actions: inout [Action]) {
        guard wantsPause else { return }
        wantsPause = false
        if isDormant { return }
        outage = Outage(start: now, isTrouble: false)
        if case .open(var session) = phase {
            switch session.stage {
            case .paused, .pausing:
                session.stage = .awaitingFrame
                phase = .open(session)
                actions += [.noticeNextFrame(session.id), .resume(session.id)]
            case .opening, .awaitingFrame, .live, .stalled: break
            }
        } else {
            reopen(now, &actions)
        }
    }

    private mutating func opened(_ id: SessionID, _ format: SourceFormat, _ actions: inout [Action]) {
        guard var session = open(id), case .opening = session.stage else { return }
        session.format = format
        actions.append(.tell(.opened(format)))
        if wantsPause {
            pause(&session, &actions)
        } else {
            session.stage = .awaitingFrame
            actions.append(.noticeNextFrame(id))
        }
        phase = .open(session)
    }

    private mutating func frameCame(_ id: SessionID, _ now: MonotonicTime, _ actions: inout [Action]) {
        guard var session = open(id) else { return }
        switch session.stage {
        case .awaitingFrame, .stalled: break
        case .live where session.interruption != nil: break
        case .opening, .live, .pausing, .paused: return
        }
        session.interruption = nil
        goLive(session, now, &actions)
    }

    /// A silent source sends data again. A first opening, a pause and an interruption end only with a frame.
    private mutating func dataCame(_ id: SessionID, _ now: MonotonicTime, _ actions: inout [Action]) {
        guard let session = open(id), case .stalled = session.stage, session.interruption == nil else { return }
        goLive(session, now, &actions)
    }

    private mutating func goLive(_ session: Session, _ now: MonotonicTime, _ actions: inout [Action]) {
        var session = session
        session.stage = .live(healthySince: now)
        session.wasLive = true
        phase = .open(session)
        if wasLive, let outage, outage.isTrouble {
            figures.recoveries += 1
            actions.append(.tell(.recovered(after: now - outage.start)))
        }
        endOutage(at: now)
        wasLive = true
        refusals = Refusals()
    }

    private mutating func interrupted(
        _ id: SessionID, _ reason: String?, _ now: MonotonicTime, _ actions: inout [Action]
    ) {
        guard id == session?.id else { return }
        if reason != nil {
            if session?.interruption == nil { figures.interruptions += 1 }
            settleHealth(until: now)
            beginOutage(at: now)
            actions.append(.noticeNextFrame(id))
        } else if case .open(var session) = phase, case .live = session.stage {
            // The device is back, but no frame has arrived yet.
            session.stage = .stalled
            phase = .open(session)
        }
        session?.interruption = reason
    }

    private mutating func closing(_ id: SessionID, _ outcome: Outcome, _ now: MonotonicTime) {
        guard let session = open(id) else { return }
        let next: Next
        switch outcome {
        case .ended(let reason): next = .finish(.success(reason))
        case .failed(let error):
            next = .fail(error)
            beginOutage(at: now)
        case .closedForPause: next = wantsPause ? .rest : .reopen
        }
        settleHealth(until: now)
        phase = .closing(session, next: next, by: now + policy.stopTimeout + Self.grace)
    }

    private mutating func closed(_ id: SessionID, _ outcome: Outcome, _ now: MonotonicTime, _ actions: inout [Action]) {
        if abandoned.remove(id) != nil { figures.abandonedThreads = abandoned.count }
        closing(id, outcome, now)
        if case .closing(let session, let next, _) = phase, session.id == id {
            proceed(next, after: session, now, &actions)
        }
    }

    // MARK: Failures

    private mutating func failed(
        _ session: Session, _ error: InletError, _ now: MonotonicTime, _ actions: inout [Action]
    ) {
        beginOutage(at: now)
        figures.failures[error.code, default: 0] += 1
        figures.lastFailure = error
        failures += 1
        // A file that failed in its middle would start from the beginning.
        let goesOn = session.format.map { $0.isBroadcast ?? ($0.pacing == .live) || !session.wasLive } ?? true
        guard goesOn, policy.retry.retries(after: error, failures: failures, wasLive: wasLive) else {
            actions.append(.tell(.sourceFailed(error, retryIn: nil)))
            finish(.failure(error), now, &actions)
            return
        }
        let delay = delay(after: error, now)
        actions.append(.tell(.sourceFailed(error, retryIn: delay)))
        phase = wantsPause ? .closedForPause : .waiting(until: now + delay, delay: delay)
    }

    /// Records that frames arrived without a break until then: forgets earlier failures if that was for long enough.
    mutating func settleHealth(until end: MonotonicTime) {
        guard case .open(var session) = phase, case .live(let start?) = session.stage else { return }
        if end - start >= policy.retry.healthyAfter { failures = 0 }
        session.stage = .live(healthySince: nil)
        phase = .open(session)
    }

    /// Records that something keeps frames away that the application wants.
    mutating func beginOutage(at time: MonotonicTime) {
        guard !wantsPause, !isDormant else { return }
        outage = Outage(start: outage?.start ?? time, isTrouble: true)
    }

    /// Records that frames arrive again, or are no longer wanted.
    mutating func endOutage(at now: MonotonicTime) {
        if wasLive, let outage, outage.isTrouble { figures.outage += now - outage.start }
        outage = nil
    }

    /// Cancels the session and continues with `next` when it has closed.
    mutating func close(then next: Next, _ now: MonotonicTime, _ actions: inout [Action]) {
        settleHealth(until: now)
        guard let session else { return }
        var by = now + policy.stopTimeout
        if case .closing(_, _, let earlier) = phase { by = min(by, earlier) }
        // Also if it is closing: one that has ended may take its time until it is cancelled.
        actions.append(.cancel(session.id))
        phase = .closing(session, next: next, by: by)
    }

    mutating func abandon(_ session: Session, next: Next, _ now: MonotonicTime, _ actions: inout [Action]) {
        abandoned.insert(session.id)
        figures.abandonedThreads = abandoned.count
        figures.abandonments += 1
        let error = InletError(
            .timedOut,
            """
            The source did not stop within \(policy.stopTimeout); its thread is given up and goes on by itself. \
            This is a fault of the source plug-in.
            """, context: .init(subject: policy.subject, operation: "stop"))
        actions += [.abandon(session.id), .tell(.sourceAbandoned(error))]
        if case .finish(.success) = next {
            finish(.failure(error), now, &actions)
        } else if abandoned.count >= policy.maximumAbandonedThreads {
            finish(.failure(error), now, &actions)
        } else {
            proceed(next, after: session, now, &actions)
        }
    }

    private mutating func proceed(
        _ next: Next, after session: Session, _ now: MonotonicTime, _ actions: inout [Action]
    ) {
        switch next {
        case .fail(let error): failed(session, error, now, &actions)
        case .rest: phase = .closedForPause
        case .reopen: openUnlessRefused(now, &actions)
        case .finish(let result): finish(result, now, &actions)
        }
    }

    mutating func finish(
        _ result: Result<EndReason, InletError>, _ now: MonotonicTime, _ actions: inout [Action]
    ) {
        endOutage(at: now)
        phase = .ended(try? result.get())
        actions.append(.finish(result))
    }
}

extension SourceFormat {
    /// The time between frames, if a rate is stated.
    var frameInterval: Duration? {
        frameRate?.reciprocal.map { .nanoseconds(max(0, MediaTime(ticks: 1, timeBase: $0).nanoseconds)) }
    }
}
