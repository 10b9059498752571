import InletCore

@testable import InletRTC

/// Two state machines with an engine each. The signaling between them delays, duplicates, loses and reorders messages.
/// Everything depends on a seed and a simulated clock.
struct PeerPairSimulation {
    struct Trouble {
        var loss = 0.0
        var doubling = 0.0
        var latest = Duration.milliseconds(200)
        /// The time when everything is reliable again.
        var until = MonotonicTime(nanoseconds: 0)
    }

    private enum Event {
        case message(to: Int, SignalingMessage)
        case engine(side: Int, life: Int, PeerSessionStateMachine.EngineID, PeerSessionStateMachine.EngineEvent)
        case input(side: Int, PeerSessionStateMachine.Input)
        case change(side: Int)
        case kill(side: Int)
        case revive(side: Int)
    }

    /// The state of an engine: its offer and its answer.
    private struct Engine {
        var id: Int
        /// The identity by which the peer distinguishes it from other engines.
        var identity: String
        var peer: String?
        /// The peer's last known wish.
        var seen = -1
        var hasLocal = false
        var hasRemote = false
        var isUp = false
    }

    private var random: SplitMix64
    private let trouble: Trouble
    private var events: [(time: MonotonicTime, order: Int, event: Event)] = []
    private var order = 0
    private(set) var now = MonotonicTime(nanoseconds: 0)
    private(set) var machines: [PeerSessionStateMachine]
    private var engines: [Engine?] = [nil, nil]
    /// The wish of each side for the session: an increasing number.
    private(set) var wishes = [0, 0]
    /// The number of process starts of each side: messages for a dead process are lost.
    private var lives = [0, 0]
    private var isDead = [false, false]
    private(set) var openEngines = [0, 0]
    private var versions = 0
    /// The number of further descriptions that were set.
    private(set) var revisions = 0
    private let policies: [PeerSessionPolicy]

    init(seed: UInt64, _ policies: [PeerSessionPolicy], _ trouble: Trouble) {
        random = SplitMix64(seed: seed)
        self.policies = policies
        self.trouble = trouble
        machines = policies.map { PeerSessionStateMachine($0) }
    }

    mutating func start(_ side: Int, after delay: Duration) { plan(.input(side: side, .start), after: delay) }
    mutating func kill(_ side: Int, after delay: Duration, reviveAfter: Duration?) {
        plan(.kill(side: side), after: delay)
        if let reviveAfter { plan(.revive(side: side), after: delay + reviveAfter) }
    }
    mutating func randomDuration(upTo limit: Duration) -> Duration {
        .nanoseconds(Int64(random.fraction() * Double(limit.wholeNanoseconds)))
    }

    private mutating func plan(_ event: Event, after delay: Duration) {
        order += 1
        events.append((now + delay, order, event))
    }

    mutating func change(_ side: Int, after delay: Duration) { plan(.change(side: side), after: delay) }

    var bothConnected: Bool { machines.allSatisfy { $0.state == .connected } && isUpBetween }
    /// Whether each side knows the other's wish.
    var bothAgree: Bool { engines[0]?.seen == wishes[1] && engines[1]?.seen == wishes[0] }
    private var isUpBetween: Bool {
        guard let first = engines[0], let second = engines[1] else { return false }
        return first.peer == second.identity && second.peer == first.identity
    }

    mutating func run(until end: MonotonicTime, stopWhen isDone: (Self) -> Bool) {
        while now < end, !isDone(self) {
            let ticks = machines.indices.filter { !isDead[$0] }.compactMap { machines[$0].deadline }
            let next = events.map(\.time).min() ?? .distantFuture
            now = max(now, min(next, ticks.min() ?? .distantFuture, now + .seconds(1)))
            let due = events.filter { $0.time <= now }.sorted { ($0.time, $0.order) < ($1.time, $1.order) }
            events.removeAll { $0.time <= now }
            for item in due { happen(item.event) }
            for side in machines.indices where !isDead[side] {
                // RTCP flows while both ends of a path exist.
                if isUpBetween, engines[side]?.isUp == true, !isDead[1 - side] { handle(side, .feedback) }
                handle(side, .tick)
            }
        }
    }

    private mutating func happen(_ event: Event) {
        switch event {
        case .input(let side, let input): if !isDead[side] { handle(side, input) }
        case .message(let side, let message):
            // Signaling doesn't know that the process was restarted: late messages for the previous one reach it.
            guard !isDead[side] else { return }
            switch message {
            case .description(let description): handle(side, .description(description))
            case .candidate(let candidate): handle(side, .candidate(candidate))
            case .bye(let flow): handle(side, .bye(flow))
            }
        case .engine(let side, let life, let id, let event):
            guard !isDead[side], lives[side] == life, engines[side]?.id == id else { return }
            engineDid(side, id, event)
        case .change(let side):
            wishes[side] += 1
            if !isDead[side] { handle(side, .change) }
        case .kill(let side):
            (isDead[side], engines[side], openEngines[side]) = (true, nil, 0)
            pathChanged()
        case .revive(let side):
            lives[side] += 1
            isDead[side] = false
            var policy = policies[side]
            policy.name += "/\(lives[side])"
            machines[side] = PeerSessionStateMachine(policy)
            handle(side, .start)
        }
    }

    private mutating func engineDid(
        _ side: Int, _ id: Int, _ event: PeerSessionStateMachine.EngineEvent
    ) {
        switch event {
        case .localSet: engines[side]?.hasLocal = true
        case .remoteSet: engines[side]?.hasRemote = true
        default: break
        }
        handle(side, .engine(id, event))
        pathChanged()
    }

    /// A path is up when both engines have both descriptions of the same flow; it is down when the other end is gone.
    private mutating func pathChanged() {
        let isComplete = isUpBetween && engines.allSatisfy { $0?.hasLocal == true && $0?.hasRemote == true }
        for side in engines.indices {
            guard let engine = engines[side], engine.isUp != isComplete else { continue }
            engines[side]?.isUp = isComplete
            plan(
                .engine(side: side, life: lives[side], engine.id, .path(isComplete ? .up : .down)),
                after: .milliseconds(20))
        }
    }

    private mutating func handle(_ side: Int, _ input: PeerSessionStateMachine.Input) {
        for action in machines[side].handle(input, at: now) { perform(side, action) }
    }

    private mutating func perform(_ side: Int, _ action: PeerSessionStateMachine.Action) {
        func later(_ simulation: inout Self, _ id: Int, _ event: PeerSessionStateMachine.EngineEvent) {
            let delay = simulation.randomDuration(upTo: .milliseconds(50))
            simulation.plan(.engine(side: side, life: simulation.lives[side], id, event), after: delay)
        }
        switch action {
        case .open(let id):
            engines[side] = Engine(id: id, identity: "\(side)/\(lives[side])/\(id)")
            openEngines[side] += 1
        case .close(let id):
            openEngines[side] -= 1
            if engines[side]?.id == id { engines[side] = nil }
            pathChanged()
        case .offer(let id):
            later(&self, id, .localSet(text(side)))
            later(&self, id, .candidate("candidate:1", section: 0))
        case .answer(let id):
            later(&self, id, .localSet(text(side)))
            later(&self, id, .candidate("candidate:1", section: 0))
        case .setRemote(let id, let description):
            read(description, by: side)
            later(&self, id, .remoteSet)
        case .reoffer(let id): later(&self, id, .offerMade(text(side)))
        case .revise(let id, let description):
            revisions += 1
            read(description, by: side)
            later(&self, id, .remoteSet)
        case .describe(let id): later(&self, id, .gathered(text(side)))
        case .send(let description): post(side, .description(description))
        case .sendCandidate(let candidate): post(side, .candidate(candidate))
        case .sendBye(let flow): post(side, .bye(flow))
        case .add, .tell, .tellSetback, .tellAgreed: break
        }
    }

    /// Returns a description of a side's engine, with the side's wish.
    private mutating func text(_ side: Int) -> String {
        versions += 1
        return "o=- 1 \(versions)\na=fingerprint:\(engines[side]?.identity ?? "")\na=wish:\(wishes[side])\n"
    }

    private mutating func read(_ description: SessionDescription, by side: Int) {
        for line in description.sdp.split(separator: "\n") {
            if line.hasPrefix("a=fingerprint:") { engines[side]?.peer = String(line.dropFirst(14)) }
            if line.hasPrefix("a=wish:") { engines[side]?.seen = Int(line.dropFirst(7)) ?? -1 }
        }
    }

    private mutating func post(_ side: Int, _ message: SignalingMessage) {
        let isTroubled = now < trouble.until
        if isTroubled, random.fraction() < trouble.loss { return }
        let copies = isTroubled && random.fraction() < trouble.doubling ? 2 : 1
        for _ in 0..<copies {
            let delay = randomDuration(upTo: isTroubled ? trouble.latest : .milliseconds(20))
            plan(.message(to: 1 - side, message), after: delay)
        }
    }
}
