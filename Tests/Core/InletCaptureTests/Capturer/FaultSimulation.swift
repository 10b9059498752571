import InletCore

@testable import InletCapture

/// A capturer, its source and its sinks in simulated time: the real state machine, clock and mailboxes, driven by a
/// seed instead of threads.
///
/// The source opens late, hangs, ignores its cancellation, throws, ends, jumps; sinks are slow, throw, detach; the
/// application pauses and stops. After each step the bridge's guarantees are checked. The same seed gives the same run.
struct FaultSimulation {
    typealias Machine = CapturerStateMachine

    /// The broken guarantees.
    struct Broken: Error, CustomStringConvertible {
        var seed: UInt64
        var time: MonotonicTime
        var promise: String
        var trace: [Traced]
        var description: String {
            let lines = trace.suffix(40).map { "\($0.time.nanoseconds / 1_000_000) ms \($0.what)" }
            return "seed \(seed) at \(time.nanoseconds / 1_000_000) ms: \(promise)\n" + lines.joined(separator: "\n")
        }
    }

    /// A log of the events, printed with a broken guarantee.
    struct Traced {
        enum What {
            case event(Event)
            case action(Machine.Action)
        }
        var time: MonotonicTime
        var what: What
    }

    /// A scheduled event.
    enum Event {
        case tick
        case opened(Int)
        case next(Int)
        /// Data arrives that gives no frame, and is repeated this many times.
        case data(Int, more: Int)
        case fails(Int, InletError)
        case closes(Int)
        case consumed(Int)
        case user(UserAct)
        /// No faults are injected from here on.
        case calm
    }

    enum UserAct: CaseIterable { case pause, resume, disable, enable, detach, attach, stop }

    /// The present activity of the source's thread.
    struct Session {
        enum Mode { case opening, reading, blocked(on: Int), standing, hanging, closing }
        var id: Int
        var mode = Mode.opening
        var isDeaf = false
        var isCancelled = false
        var wantsPause = false
        var wantsNotice = true
        var isInterrupted = false
        var framesLeft: Int
        var pts: Int64
        var wantsDataNotice = true
        var limits = OperationLimits()

        mutating func begin(_ silence: Duration, total: Duration? = nil, at now: MonotonicTime) {
            limits.begin(OperationLimits.Allowance(silence: silence, total: total ?? silence), at: now)
        }
    }

    struct Sink {
        var mailbox: MailboxStateMachine<MonotonicTime>
        var capacity: Int
        var isLossless: Bool
        var delay: Duration
        var throwsAfter: Int?
        var isBusy = false
        var isAttached = true
        var offered = 0
        var delivered = 0
        var dropped = 0
        var last: MonotonicTime?
    }

    let seed: UInt64
    var random: SplitMix64
    var machine: Machine
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// The list is sorted, with the latest event first.
    var agenda: [(time: MonotonicTime, order: Int, event: Event)] = []
    var order = 0
    /// The number of the valid tick; earlier plans of it are void.
    var tickOrder = 0
    var session: Session?
    /// Sessions that were abandoned; true while their thread runs.
    var lost: [Int: Bool] = [:]
    var frameClock = FrameClock(pacing: .live, timestampBits: nil)
    var sinks: [Sink] = []
    var pending: (time: MonotonicTime, sinks: [Int])?
    var stoppedAt: MonotonicTime?
    var result: Result<EndReason, InletError>?
    var states: [CapturerState] = []
    var plannedTick: MonotonicTime?
    var trace: [Traced] = []
    /// No faults are injected from now on: the source must recover without help.
    var isCalm = false

    static let format = SourceFormat(
        size: ImageSize(width: 64, height: 48), pixelFormat: .yuv420p, frameRate: Rational(30),
        timeBase: Rational(1, 90_000),
        pacing: .live)

    init(seed: UInt64) {
        self.seed = seed
        random = SplitMix64(seed: seed)
        var policy = Machine.Policy()
        policy.retry.firstDelay = .milliseconds(100)
        policy.retry.maximumDelay = .seconds(2)
        policy.retry.healthyAfter = .seconds(1)
        (policy.retry.refusedDelay, policy.retry.maximumRefusedDelay) = (.milliseconds(200), .seconds(2))
        policy.timeouts.open = .seconds(2)
        policy.timeouts.firstFrame = .seconds(2)
        policy.timeouts.nextFrame = .seconds(2)
        policy.timeouts.stall = .milliseconds(500)
        policy.stopTimeout = .milliseconds(500)
        machine = Machine(policy, random: SplitMix64(seed: seed &+ 1))
        for _ in 0..<Int.random(in: 0...3, using: &random) { addSink() }
    }

    // MARK: Running

    /// Plays half a minute with faults, ten seconds without, and a stop.
    mutating func run() throws {
        let calmAt = now + .seconds(30)
        let stopAt = calmAt + .seconds(10)
        try handle(.start)
        plan(.calm, after: calmAt - now)
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            plan(.user(UserAct.allCases.randomElement(using: &random) ?? .pause), after: milliseconds(0...30_000))
        }
        while result == nil, let next = agenda.last, next.time <= stopAt { try playNext() }
        if result == nil {
            now = stopAt
            guard case .live = machine.state else {
                throw broken("ten seconds after the last fault it is \(machine.state)")
            }
            try handle(.stop(.cancelled))
            stoppedAt = now
        }
        while result == nil, !agenda.isEmpty { try playNext() }
        if result == nil { throw broken("nothing more happens, and the run has not ended") }
        for index in sinks.indices { try checkSums(index) }
    }

    private mutating func playNext() throws {
        guard let (time, order, event) = agenda.popLast() else { return }
        if case .tick = event, order != tickOrder { return }
        now = max(now, time)
        try happen(event)
    }

    private mutating func happen(_ event: Event) throws {
        trace.append(Traced(time: now, what: .event(event)))
        switch event {
        case .tick:
            plannedTick = nil
            try handle(.tick(session?.limits.operation))
        case .opened(let id) where session?.id == id && session?.isCancelled == false:
            session?.limits.end()
            frameClock.reconnect(pacing: .live, timestampBits: nil)
            session?.mode = .reading
            try handle(.opened(id, Self.format))
            try readNext(id)
        case .next(let id) where session?.id == id: try frameComes(id)
        case .data(let id, let more) where session?.id == id: try dataComes(id, more: more)
        case .fails(let id, let error) where session?.id == id && session?.isCancelled == false:
            try ends(id, .failed(error))
        case .closes(let id): try closes(id)
        case .consumed(let index): try consumed(index)
        case .user(let act): try user(act)
        case .calm:
            isCalm = true
            try handle(.resume)
            try handle(.setEnabled(true))
        default: break
        }
        try checkPromises()
    }

    mutating func handle(_ input: Machine.Input) throws {
        for action in machine.handle(input, at: now) {
            trace.append(Traced(time: now, what: .action(action)))
            switch action {
            case .open(let id): try open(id)
            case .cancel(let id): if session?.id == id { cancel() }
            case .pause(let id): if session?.id == id { session?.wantsPause = true }
            case .resume(let id):
                if session?.id == id {
                    session?.wantsPause = false
                    if case .standing? = session?.mode {
                        session?.mode = .reading
                        session?.begin(machine.policy.timeouts.firstFrame, at: now)
                        plan(.next(id), after: milliseconds(1...40))
                    }
                }
            case .noticeNextFrame(let id):
                if session?.id == id {
                    session?.wantsNotice = true
                    session?.wantsDataNotice = true
                }
            case .abandon(let id):
                lost[id] = true
                session = nil
                pending = nil
            case .tell(.stateChanged(let state)):
                if state == states.last { throw broken("reported the state \(state) twice") }
                if case .ended? = states.last { throw broken("continued after its end") }
                states.append(state)
            case .tell: break
            case .finish(let result):
                if self.result != nil { throw broken("ended twice") }
                self.result = result
            }
        }
        scheduleTick()
    }

    private mutating func scheduleTick() {
        guard let next = machine.nextTick(at: now, operation: session?.limits.operation) else { return }
        if let plannedTick, plannedTick <= next, plannedTick > now { return }
        plannedTick = next
        tickOrder = order + 1
        plan(.tick, after: max(.zero, next - now))
    }

    // MARK: The source

    private mutating func open(_ id: Int) throws {
        guard session == nil else { throw broken("opened while another is open") }
        session = Session(
            id: id, framesLeft: Int.random(in: 0...30, using: &random),
            pts: Int64.random(in: 0...(1 << 40), using: &random))
        session?.begin(machine.policy.timeouts.open, at: now)
        switch isCalm ? 9 : Int.random(in: 0...9, using: &random) {
        case 0: hang(id)
        case 1: plan(.fails(id, InletError(.disconnected, "refused")), after: milliseconds(0...500))
        case 2: plan(.fails(id, InletError(.notFound, "not there")), after: milliseconds(0...500))
        default: plan(.opened(id), after: milliseconds(0...500))
        }
    }

    /// The source is stuck. A well-behaved one gives up at its deadline; one that ignores cancellation, at any time or
    /// never.
    private mutating func hang(_ id: Int) {
        session?.mode = .hanging
        session?.isDeaf = Int.random(in: 0...9, using: &random) == 0
        if session?.isDeaf == false, let deadline = session?.limits.operation?.deadline, Bool.random(using: &random) {
            plan(.fails(id, InletError(.timedOut, "no answer")), after: max(.zero, deadline - now))
        }
    }

    private mutating func cancel() {
        guard let id = session?.id, session?.isCancelled == false else { return }
        session?.isCancelled = true
        guard session?.isDeaf == true else {
            plan(.closes(id), after: milliseconds(0...100))
            return
        }
        if Bool.random(using: &random) { plan(.closes(id), after: milliseconds(0...6_000)) }
    }

    /// The source ends by itself, which is known at once. It is closed a little later, much later or never.
    private mutating func ends(_ id: Int, _ outcome: Machine.Outcome) throws {
        session?.mode = .closing
        session?.limits.end()
        if !isCalm, Int.random(in: 0...9, using: &random) == 0 {
            session?.isDeaf = true
            if Bool.random(using: &random) { plan(.closes(id), after: milliseconds(0...6_000)) }
        } else {
            plan(.closes(id), after: milliseconds(0...50))
        }
        try handle(.closing(id, outcome))
    }

    private mutating func closes(_ id: Int) throws {
        if session?.id == id {
            session = nil
            pending = nil
        } else if lost[id] == true {
            lost[id] = false
        } else {
            return
        }
        try handle(.closed(id, .ended(.cancelled)))
    }

    mutating func readNext(_ id: Int) throws {
        guard session?.id == id, session?.isCancelled == false else { return }
        if session?.wantsPause == true {
            if Bool.random(using: &random) {
                session?.mode = .standing
                session?.limits.end()
                try handle(.paused(id))
            } else {
                try ends(id, .closedForPause)
            }
            return
        }
        session?.mode = .reading
        let silence = machine.policy.timeouts.nextFrame
        session?.begin(silence, total: silence * 3, at: now)
        plan(.next(id), after: milliseconds(150...250))
    }

    private mutating func frameComes(_ id: Int) throws {
        guard case .reading? = session?.mode, session?.isCancelled == false else { return }
        if !isCalm, (session?.framesLeft ?? 0) <= 0 {
            session?.framesLeft = Int.random(in: 0...30, using: &random)
            switch Int.random(in: 0...99, using: &random) {
            // A source that waits for its device may wait for any length of time.
            case 0..<30 where session?.isInterrupted == false: return hang(id)
            case 30..<60: return try ends(id, .failed(InletError(.disconnected, "gone")))
            case 60..<61: return try ends(id, .ended(.endOfStream))
            case 61..<62: return try ends(id, .failed(InletError(.authenticationFailed, "no")))
            case 62..<70 where session?.isInterrupted == false:
                return try dataComes(id, more: Int.random(in: 0...40, using: &random))
            case 70..<80: session?.pts = Int64.random(in: Int64.min...Int64.max, using: &random)
            case 80..<90:
                try handle(.interruption(id, "busy"))
                session?.isInterrupted = true
                session?.limits.end()
                plan(.next(id), after: milliseconds(0...5_000))
                return
            default:
                // The source is silent for a while, and then continues.
                plan(.next(id), after: milliseconds(0...3_000))
                return
            }
        }
        session?.framesLeft -= 1
        session?.pts &+= 18_000
        session?.limits.end()
        if session?.wantsNotice == true {
            session?.wantsNotice = false
            if session?.isInterrupted == true { try handle(.interruption(id, nil)) }
            session?.isInterrupted = false
            try handle(.frame(id))
        }
        let pts = Int.random(in: 0...50, using: &random) == 0 ? nil : session?.pts
        let stamp = frameClock.stamp(
            pts: pts.map { MediaTime(ticks: $0, timeBase: Rational(1, 90_000)) }, arrival: now, startsAnew: false)
        guard stamp.time <= now else {
            throw broken("a frame from the future: \(stamp.time.nanoseconds - now.nanoseconds) ns")
        }
        pending = (stamp.time, sinks.indices.filter { sinks[$0].isAttached })
        for index in pending?.sinks ?? [] { sinks[index].offered += 1 }
        try offerPending()
    }

    /// For a while, data arrives that is withheld on purpose, or that gives no frame.
    private mutating func dataComes(_ id: Int, more: Int) throws {
        guard case .reading? = session?.mode, session?.isCancelled == false else { return }
        session?.limits.noteProgress(at: now)
        if session?.wantsDataNotice == true {
            session?.wantsDataNotice = false
            try handle(.progress(id))
        }
        plan(more > 0 && !isCalm ? .data(id, more: more - 1) : .next(id), after: milliseconds(50...900))
    }

    func broken(_ promise: String) -> Broken { Broken(seed: seed, time: now, promise: promise, trace: trace) }

    mutating func plan(_ event: Event, after delay: Duration) {
        order += 1
        let time = now + delay
        // Events planned for the same time happen in the order in which they were planned.
        var (low, high) = (0, agenda.count)
        while low < high {
            let middle = (low + high) / 2
            if agenda[middle].time > time { low = middle + 1 } else { high = middle }
        }
        agenda.insert((time, order, event), at: low)
    }

    mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
        .milliseconds(Int.random(in: range, using: &random))
    }
}
