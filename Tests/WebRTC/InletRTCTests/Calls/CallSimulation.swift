import InletCore

@testable import InletRTC

/// Several parties that call each other, with one state machine each. The signaling delays, duplicates, loses and
/// reorders messages. Everything depends on a seed and a simulated clock.
struct CallSimulation {
    struct Trouble {
        var loss = 0.0
        var doubling = 0.0
        var latest = Duration.milliseconds(200)
        /// The time when everything is reliable again.
        var until = MonotonicTime(nanoseconds: 0)
    }

    /// A person's reaction to a ringing call.
    enum Habit: CaseIterable { case answers, declines, isBusy, ignores }

    private enum Event {
        case message(to: Int, life: Int, CallMessage, from: Int)
        case input(Int, CallStateMachine.Input)
        case place(Int, Int)
        case hangUp(Int)
        case media(Int, CallID, isUp: Bool)
        case kill(Int, reviveAfter: Duration?)
        case revive(Int)
    }

    private var random: SplitMix64
    private let trouble: Trouble
    private let policy: CallPolicy
    private var events: [(time: MonotonicTime, order: Int, event: Event)] = []
    private var order = 0
    private var lives: [Int]
    private var isDead: [Bool]
    private(set) var now = MonotonicTime(nanoseconds: 0)
    private(set) var machines: [CallStateMachine]
    let peers: [PeerID]
    /// The states reported to each side for each call since its latest start.
    private(set) var told: [[CallID: [CallState]]]
    private(set) var joined: [[CallID: CallID]]
    /// The calls for which each side has media open.
    private(set) var media: [Set<CallID>]
    /// The highest number of calls that a side had media open for at the same time.
    private(set) var mostMedia = 0
    private(set) var messages = 0
    /// The reaction to ringing calls; nil selects one at random.
    var habit: Habit?
    /// The maximum time that a person takes to react to a ringing call.
    var thinking = Duration.seconds(20)

    init(seed: UInt64, parties: Int, _ policy: CallPolicy = CallPolicy(), _ trouble: Trouble = Trouble()) throws {
        random = SplitMix64(seed: seed)
        self.trouble = trouble
        self.policy = policy
        let peers = try ["anna", "ben", "cleo"].prefix(parties).map { try PeerID($0) }
        self.peers = peers
        machines = peers.map { CallStateMachine(policy, localID: $0) }
        told = peers.map { _ in [:] }
        joined = peers.map { _ in [:] }
        media = peers.map { _ in [] }
        lives = peers.map { _ in 0 }
        isDead = peers.map { _ in false }
    }

    mutating func place(_ side: Int, _ peer: Int, after delay: Duration) { plan(.place(side, peer), after: delay) }
    mutating func hangUp(_ side: Int, after delay: Duration) { plan(.hangUp(side), after: delay) }
    mutating func kill(_ side: Int, after delay: Duration, reviveAfter: Duration?) {
        plan(.kill(side, reviveAfter: reviveAfter), after: delay)
    }
    mutating func randomDuration(upTo limit: Duration) -> Duration {
        .nanoseconds(Int64(random.fraction() * Double(limit.wholeNanoseconds)))
    }
    mutating func randomNumber(below limit: Int) -> Int { Int(random.fraction() * Double(limit)) }

    private mutating func plan(_ event: Event, after delay: Duration) {
        order += 1
        events.append((now + delay, order, event))
    }

    /// Runs until nothing more can happen, or until the end time.
    mutating func run(until end: MonotonicTime) {
        while now < end {
            let ticks = machines.indices.filter { !isDead[$0] }.compactMap { machines[$0].deadline }
            let next = min(events.map(\.time).min() ?? .distantFuture, ticks.min() ?? .distantFuture)
            guard next != .distantFuture else { return }
            now = max(now, min(next, end))
            let due = events.filter { $0.time <= now }.sorted { ($0.time, $0.order) < ($1.time, $1.order) }
            events.removeAll { $0.time <= now }
            for item in due { happen(item.event) }
            for side in machines.indices where !isDead[side] { handle(side, .tick) }
        }
    }

    private mutating func happen(_ event: Event) {
        switch event {
        case .input(let side, let input): if !isDead[side] { handle(side, input) }
        case .place(let side, let peer):
            guard !isDead[side] else { return }
            handle(side, .place(newName(), peers[peer]))
        case .hangUp(let side):
            guard !isDead[side], let call = machines[side].running.first else { return }
            handle(side, .hangUp(call))
        // Signaling doesn't know that the process was restarted: late messages for the previous one reach it.
        case .message(let side, _, let message, let from):
            guard !isDead[side] else { return }
            handle(side, .message(message, from: peers[from]))
        case .media(let side, let call, let isUp):
            guard !isDead[side], media[side].contains(call) else { return }
            handle(side, isUp ? .mediaUp(call) : .mediaFailed(call, "The path is gone."))
        case .kill(let side, let reviveAfter):
            isDead[side] = true
            for call in media[side] { loseMedia(side, call) }
            media[side] = []
            let delay = randomDuration(upTo: .seconds(2))
            for other in peers.indices where other != side { plan(.input(other, .absent(peers[side])), after: delay) }
            if let reviveAfter { plan(.revive(side), after: reviveAfter) }
        case .revive(let side):
            isDead[side] = false
            lives[side] += 1
            machines[side] = CallStateMachine(policy, localID: peers[side])
            (told[side], joined[side]) = ([:], [:])
            let delay = randomDuration(upTo: .milliseconds(100))
            for other in peers.indices where other != side { plan(.input(other, .reset(peers[side])), after: delay) }
        }
    }

    private mutating func newName() -> CallID {
        let digits = String(random.next(), radix: 16)
        // Hexadecimal digits are a valid name.
        return (try? CallID("call-" + digits)) ?? CallID()
    }

    private mutating func handle(_ side: Int, _ input: CallStateMachine.Input) {
        for action in machines[side].handle(input, at: now) { perform(side, action) }
    }

    private mutating func perform(_ side: Int, _ action: CallStateMachine.Action) {
        switch action {
        case .send(let message, let peer):
            messages += 1
            guard let other = peers.firstIndex(of: peer) else { return }
            let isTroubled = now < trouble.until
            if isTroubled, random.fraction() < trouble.loss { return }
            let copies = isTroubled && random.fraction() < trouble.doubling ? 2 : 1
            for _ in 0..<copies {
                let delay = randomDuration(upTo: isTroubled ? trouble.latest : .milliseconds(20))
                plan(.message(to: other, life: lives[other], message, from: side), after: delay)
            }
        case .ask(let call, _):
            let delay = randomDuration(upTo: .milliseconds(300))
            plan(.input(side, .admit(call)), after: delay)
        case .openMedia(let call, let peer):
            media[side].insert(call)
            mostMedia = max(mostMedia, media[side].count)
            guard let other = peers.firstIndex(of: peer), media[other].contains(call) else { return }
            for each in [side, other] {
                let delay = randomDuration(upTo: .seconds(1))
                plan(.media(each, call, isUp: true), after: delay)
            }
        case .closeMedia(let call):
            media[side].remove(call)
            loseMedia(side, call)
        case .tell(let call, let state):
            told[side][call, default: []].append(state)
            if state == .ringing { ring(side, call) }
        case .tellJoined(let call, let other): joined[side][call] = other
        }
    }

    /// The other end of the path notices the loss unless a message announces it first.
    private mutating func loseMedia(_ side: Int, _ call: CallID) {
        for other in peers.indices where other != side && media[other].contains(call) {
            let delay = Duration.seconds(1) + randomDuration(upTo: .seconds(4))
            plan(.media(other, call, isUp: false), after: delay)
        }
    }

    private mutating func ring(_ side: Int, _ call: CallID) {
        let pick = habit ?? Habit.allCases[randomNumber(below: Habit.allCases.count)]
        let delay = randomDuration(upTo: thinking)
        switch pick {
        case .answers: plan(.input(side, .answer(call)), after: delay)
        case .declines: plan(.input(side, .decline(call, "not now")), after: delay)
        case .isBusy: plan(.input(side, .refuse(call, retryAfter: .seconds(60))), after: delay)
        case .ignores: break
        }
    }

    /// Returns the end of each call that a side knows.
    func ends(_ side: Int) -> [CallID: CallEnd] {
        told[side].compactMapValues { if case .ended(let end)? = $0.last { end } else { nil } }
    }
}
