import InletCore

/// What a capturer decides, without any thread, lock or clock of its own: it is told what happened and when, and
/// answers what to do.
///
/// One source at a time is open, in a *session* with a number. Word of an earlier session, given up or replaced,
/// changes nothing.
struct CapturerStateMachine {
    /// Numbers the openings of the source.
    typealias SessionID = Int

    /// What the machine goes by.
    struct Policy: Sendable {
        var timeouts = CaptureTimeouts()
        var retry = RetryPolicy()
        var stopTimeout = Duration.seconds(5)
        /// How many threads that ignore their cancellation are borne before the run fails rather than start another.
        var maximumAbandonedThreads = 4
        /// The source by its URI, without credentials, for errors.
        var subject = ""
    }

    /// Something that happened.
    enum Input {
        /// The application's wishes.
        case start
        case stop(EndReason)
        case pause
        case resume
        case setEnabled(Bool)
        /// Word from a session's thread.
        case opened(SessionID, SourceFormat)
        case frame(SessionID)
        /// Data came, whether or not a frame comes of it.
        case progress(SessionID)
        case interruption(SessionID, String?)
        case paused(SessionID)
        /// The source has ended by itself and is about to be closed, which may take a while.
        case closing(SessionID, Outcome)
        case closed(SessionID, Outcome)
        /// Time has passed. The operation is the one that the source runs, nil while it runs none.
        case tick(SourceOperation?)
    }

    /// How a session ended by itself.
    enum Outcome {
        case ended(EndReason)
        case failed(InletError)
        /// Closed because it cannot pause.
        case closedForPause
    }

    /// Something to do, in the order given.
    enum Action {
        case open(SessionID)
        case cancel(SessionID)
        case pause(SessionID)
        case resume(SessionID)
        /// The session's thread is lost; nothing it says counts any more.
        case abandon(SessionID)
        /// Have the session say when its next frame comes, and when its next data.
        case noticeNextFrame(SessionID)
        case tell(CapturerEvent)
        /// The source is closed for good.
        case finish(Result<EndReason, InletError>)
    }

    enum Phase {
        case idle
        case opening(SessionID)
        /// Open; no frame since the opening or the end of a pause.
        case awaitingFrame(SessionID)
        case live(SessionID)
        case stalled(SessionID)
        /// Asked to pause, and not there yet.
        case pausing(SessionID)
        /// Nil where the source was closed for the pause.
        case paused(SessionID?)
        /// Cancelled, or ended by itself; lost if it has not closed by then.
        case closing(SessionID, next: Next, by: MonotonicTime)
        case waiting(until: MonotonicTime, delay: Duration)
        case ended(EndReason?)
    }

    /// What follows when a session has closed.
    enum Next {
        case fail(InletError)
        case rest
        case reopen
        case finish(Result<EndReason, InletError>)
    }

    let policy: Policy
    var phase = Phase.idle
    /// Threads that were given up and have not ended since.
    private(set) var abandoned: Set<SessionID> = []
    var figures = SupervisionFigures()

    private(set) var isEnabled = true
    var wantsPause = false
    private var stopRequest: EndReason?
    var interruption: String?
    private var sessionCount = 0
    var format: SourceFormat?
    private var wasLive = false
    private var sessionWasLive = false
    private(set) var failures = 0
    /// The first frame of a stretch that nothing has ended yet.
    private var healthySince: MonotonicTime?
    /// Since when there have been no frames although the application wants some; nil while they come.
    private(set) var outageStart: MonotonicTime?
    /// Whether that is for something that went wrong, not for a first opening or the end of a pause.
    private var isTrouble = false
    var shown = CapturerState.idle
    private var random: any RandomNumberGenerator & Sendable

    init(_ policy: Policy, random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()) {
        self.policy = policy
        self.random = random
    }

    /// How long the source may go without any data before it counts as stalled, and before it is restarted; and how
    /// long without a frame although data comes.
    static func frameAllowance(_ timeouts: CaptureTimeouts, frameInterval: Duration) -> (
        stall: Duration, restart: Duration, frame: Duration
    ) {
        let restart = max(timeouts.nextFrame, frameInterval * 3)
        return (max(timeouts.stall, frameInterval * 3), restart, restart * 3)
    }

    // MARK: Inputs

    /// Takes in what happened.
    ///
    /// - Returns: what to do about it.
    mutating func handle(_ input: Input, at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        switch input {
        case .start: start(now, &actions)
        case .stop(let reason): stop(reason, now, &actions)
        case .pause: pause(now, &actions)
        case .resume: resume(now, &actions)
        case .setEnabled(let enabled): isEnabled = enabled
        case .opened(let id, let format): opened(id, format, &actions)
        case .frame(let id): frameCame(id, now, &actions)
        case .progress(let id): dataCame(id, now, &actions)
        case .interruption(let id, let reason): interrupted(id, reason, now, &actions)
        case .paused(let id): if case .pausing(id) = phase { phase = .paused(id) }
        case .closing(let id, let outcome): closing(id, outcome, now)
        case .closed(let id, let outcome): closed(id, outcome, now, &actions)
        case .tick(let operation): tick(now, operation, &actions)
        }
        tellState(&actions)
        return actions
    }

    private mutating func start(_ now: MonotonicTime, _ actions: inout [Action]) {
        guard case .idle = phase else { return }
        if let stopRequest {
            finish(.success(stopRequest), now, &actions)
        } else if wantsPause {
            phase = .paused(nil)
        } else {
            outageStart = now
            openSession(&actions)
        }
    }

    mutating func openSession(_ actions: inout [Action]) {
        sessionCount += 1
        figures.openings += 1
        sessionWasLive = false
        interruption = nil
        format = nil
        phase = .opening(sessionCount)
        actions.append(.open(sessionCount))
    }

    private mutating func stop(_ reason: EndReason, _ now: MonotonicTime, _ actions: inout [Action]) {
        switch phase {
        // Sinks that go before the run are not missed: others may come.
        case .idle: if reason != .noSinks { stopRequest = stopRequest ?? reason }
        case .paused(nil), .waiting: finish(.success(reason), now, &actions)
        case .closing(_, .finish, _), .ended: break
        default: close(then: .finish(.success(reason)), now, &actions)
        }
    }

    private mutating func pause(_ now: MonotonicTime, _ actions: inout [Action]) {
        wantsPause = true
        settleHealth(until: now)
        endOutage(at: now)
        switch phase {
        case .awaitingFrame(let id), .live(let id), .stalled(let id):
            phase = .pausing(id)
            actions.append(.pause(id))
        case .waiting: phase = .paused(nil)
        // A failure is still one, though the next attempt waits for the end of the pause.
        case .closing(let id, .reopen, let by): phase = .closing(id, next: .rest, by: by)
        default: break
        }
    }

    private mutating func resume(_ now: MonotonicTime, _ actions: inout [Action]) {
        guard wantsPause else { return }
        wantsPause = false
        outageStart = now
        switch phase {
        case .paused(nil): openSession(&actions)
        case .paused(let id?), .pausing(let id):
            phase = .awaitingFrame(id)
            actions += [.noticeNextFrame(id), .resume(id)]
        case .closing(let id, .rest, let by): phase = .closing(id, next: .reopen, by: by)
        default: break
        }
    }

    private mutating func opened(_ id: SessionID, _ format: SourceFormat, _ actions: inout [Action]) {
        guard case .opening(id) = phase else { return }
        self.format = format
        actions.append(.tell(.opened(format)))
        if wantsPause {
            phase = .pausing(id)
            actions.append(.pause(id))
        } else {
            phase = .awaitingFrame(id)
            actions.append(.noticeNextFrame(id))
        }
    }

    private mutating func frameCame(_ id: SessionID, _ now: MonotonicTime, _ actions: inout [Action]) {
        switch phase {
        case .awaitingFrame(id), .stalled(id): break
        case .live(id) where interruption != nil: break
        default: return
        }
        interruption = nil
        goLive(id, now, &actions)
    }

    /// A silent source sends data again. A first opening, a pause and an interruption end with a frame alone.
    private mutating func dataCame(_ id: SessionID, _ now: MonotonicTime, _ actions: inout [Action]) {
        guard case .stalled(id) = phase, interruption == nil else { return }
        goLive(id, now, &actions)
    }

    private mutating func goLive(_ id: SessionID, _ now: MonotonicTime, _ actions: inout [Action]) {
        phase = .live(id)
        if wasLive, isTrouble, let outageStart {
            figures.recoveries += 1
            actions.append(.tell(.recovered(after: now - outageStart)))
        }
        endOutage(at: now)
        healthySince = now
        wasLive = true
        sessionWasLive = true
    }

    private mutating func interrupted(
        _ id: SessionID, _ reason: String?, _ now: MonotonicTime, _ actions: inout [Action]
    ) {
        guard id == currentSession else { return }
        if reason != nil {
            if interruption == nil { figures.interruptions += 1 }
            settleHealth(until: now)
            beginOutage(at: now)
            actions.append(.noticeNextFrame(id))
        } else if case .live(id) = phase {
            // The device is back, but no frame has come yet.
            phase = .stalled(id)
        }
        interruption = reason
    }

    private mutating func closing(_ id: SessionID, _ outcome: Outcome, _ now: MonotonicTime) {
        guard id == currentSession else { return }
        if case .closing = phase { return }
        let next: Next
        switch outcome {
        case .ended(let reason): next = .finish(.success(reason))
        case .failed(let error):
            next = .fail(error)
            beginOutage(at: now)
        case .closedForPause: next = wantsPause ? .rest : .reopen
        }
        settleHealth(until: now)
        phase = .closing(id, next: next, by: now + policy.stopTimeout + Self.grace)
    }

    private mutating func closed(_ id: SessionID, _ outcome: Outcome, _ now: MonotonicTime, _ actions: inout [Action]) {
        if abandoned.remove(id) != nil { figures.abandonedThreads = abandoned.count }
        closing(id, outcome, now)
        if case .closing(id, let next, _) = phase { proceed(next, now, &actions) }
    }

    // MARK: Failures

    private mutating func failed(_ error: InletError, _ now: MonotonicTime, _ actions: inout [Action]) {
        beginOutage(at: now)
        figures.failures[error.code, default: 0] += 1
        figures.lastFailure = error
        settleHealth(until: now)
        failures += 1
        // A file that failed in its middle would begin anew.
        let goesOn = format.map { $0.isBroadcast ?? ($0.pacing == .live) || !sessionWasLive } ?? true
        guard goesOn, policy.retry.retries(after: error, failures: failures, wasLive: wasLive) else {
            actions.append(.tell(.sourceFailed(error, retryIn: nil)))
            finish(.failure(error), now, &actions)
            return
        }
        let delay = policy.retry.delay(afterFailures: failures, using: &random)
        actions.append(.tell(.sourceFailed(error, retryIn: delay)))
        phase = wantsPause ? .paused(nil) : .waiting(until: now + delay, delay: delay)
    }

    /// Frames have come without a break until then: forgets earlier failures where that was for long enough.
    mutating func settleHealth(until end: MonotonicTime) {
        if let healthySince, end - healthySince >= policy.retry.healthyAfter { failures = 0 }
        healthySince = nil
    }

    /// Something keeps frames away that the application wants.
    mutating func beginOutage(at time: MonotonicTime) {
        guard !wantsPause else { return }
        outageStart = outageStart ?? time
        isTrouble = true
    }

    /// Frames come again, or are not wanted any more.
    private mutating func endOutage(at now: MonotonicTime) {
        if wasLive, isTrouble, let outageStart { figures.outage += now - outageStart }
        outageStart = nil
        isTrouble = false
    }

    /// Cancels the session and goes on from there when it has closed.
    mutating func close(then next: Next, _ now: MonotonicTime, _ actions: inout [Action]) {
        guard let id = currentSession else { return }
        var by = now + policy.stopTimeout
        if case .closing(_, _, let earlier) = phase { by = min(by, earlier) }
        // Also where it is closing: one that has ended by itself may take its time until it hears of this.
        actions.append(.cancel(id))
        phase = .closing(id, next: next, by: by)
    }

    mutating func abandon(_ id: SessionID, next: Next, _ now: MonotonicTime, _ actions: inout [Action]) {
        abandoned.insert(id)
        figures.abandonedThreads = abandoned.count
        figures.abandonments += 1
        let error = InletError(
            .timedOut,
            """
            The source did not stop within \(policy.stopTimeout); its thread is given up and goes on by itself. \
            This is a fault of the source plug-in.
            """, context: .init(subject: policy.subject, operation: "stop"))
        actions += [.abandon(id), .tell(.sourceAbandoned(error))]
        if case .finish(.success) = next {
            finish(.failure(error), now, &actions)
        } else if abandoned.count >= policy.maximumAbandonedThreads {
            finish(.failure(error), now, &actions)
        } else {
            proceed(next, now, &actions)
        }
    }

    private mutating func proceed(_ next: Next, _ now: MonotonicTime, _ actions: inout [Action]) {
        switch next {
        case .fail(let error): failed(error, now, &actions)
        case .rest: phase = .paused(nil)
        case .reopen: openSession(&actions)
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

    /// The session whose thread is expected to do something.
    var currentSession: SessionID? {
        switch phase {
        case .opening(let id), .awaitingFrame(let id), .live(let id), .stalled(let id), .pausing(let id),
            .closing(let id, _, _):
            id
        case .paused(let id): id
        case .idle, .waiting, .ended: nil
        }
    }
}

extension SourceFormat {
    /// The time from frame to frame, where a rate is stated.
    var frameInterval: Duration? {
        frameRate?.reciprocal.map { .nanoseconds(max(0, MediaTime(ticks: 1, timeBase: $0).nanoseconds)) }
    }
}
