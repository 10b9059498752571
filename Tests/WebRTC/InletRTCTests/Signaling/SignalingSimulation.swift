import InletCore

@testable import InletRTC

/// Two sides with a router and a session each. The service between them loses, duplicates and delays messages and
/// presence reports. A side may be killed and return as another instance. Everything depends on a seed.
struct SignalingSimulation {
    struct Trouble {
        var loss = 0.0
        var doubling = 0.0
        var latest = Duration.milliseconds(500)
        /// The time when everything is reliable again.
        var until = MonotonicTime(nanoseconds: 0)
    }

    private enum Event {
        case start(side: Int)
        case kill(side: Int)
        case envelope(to: Int, life: Int, SignalingEnvelope)
        case presence(to: Int, life: Int, SignalingInstance, isThere: Bool)
    }

    /// A process: a router, its channel, and the flow agreed on by the session.
    private struct Side {
        var router: SignalingRouter
        var channel: SignalingRouter.ChannelID?
        /// The flow of this side's last offer, and the time of the next offer.
        var offered: SignalingFlow?
        var offers = 0
        var nextOffer: MonotonicTime?
        /// The flow whose two descriptions are known here.
        var agreed: SignalingFlow?
    }

    private var random: SplitMix64
    private let trouble: Trouble
    private let hasPresence: Bool
    private let names: [PeerID]
    private var sides: [Side?] = [nil, nil]
    private var lives = [0, 0]
    private var events: [(time: MonotonicTime, order: Int, event: Event)] = []
    private var order = 0
    private(set) var now = MonotonicTime(nanoseconds: 0)
    /// The violations of the rules by a router.
    private(set) var faults: [String] = []
    private(set) var resets = 0

    init(seed: UInt64, hasPresence: Bool, _ trouble: Trouble) throws {
        random = SplitMix64(seed: seed)
        (self.trouble, self.hasPresence) = (trouble, hasPresence)
        names = try ["host", "guest"].map { name throws(InletError) in try PeerID(name) }
    }

    mutating func randomDuration(upTo limit: Duration) -> Duration {
        .nanoseconds(Int64(random.fraction() * Double(limit.wholeNanoseconds)))
    }
    mutating func start(_ side: Int, after delay: Duration) { plan(.start(side: side), after: delay) }
    mutating func kill(_ side: Int, after delay: Duration) { plan(.kill(side: side), after: delay) }

    /// Whether both sides have agreed on the same flow.
    var isAgreed: Bool { sides[0]?.agreed != nil && sides[0]?.agreed == sides[1]?.agreed }
    var description: String { "\(sides.map { $0?.agreed?.description ?? "-" }) at \(now.nanoseconds / 1_000_000) ms" }

    private mutating func plan(_ event: Event, after delay: Duration) {
        order += 1
        events.append((now + delay, order, event))
    }

    mutating func run(until end: MonotonicTime, stopWhen isDone: (Self) -> Bool) {
        while now < end, !isDone(self) {
            let offers = sides.compactMap { $0?.nextOffer }
            now = max(now, min(([end] + events.map(\.time) + offers).min() ?? end, end))
            let due = events.filter { $0.time <= now }.sorted { ($0.time, $0.order) < ($1.time, $1.order) }
            events.removeAll { $0.time <= now }
            for item in due { happen(item.event) }
            if let next = sides[0]?.nextOffer, next <= now { offer() }
        }
    }

    private mutating func happen(_ event: Event) {
        switch event {
        case .start(let side):
            guard sides[side] == nil, let instance = try? SignalingInstance("\(names[side])-\(lives[side])")
            else { return }
            var router = SignalingRouter(localID: names[side], instance: instance, hasPresence: hasPresence)
            let other = sides[1 - side]?.router
            let present = hasPresence ? (other.map { [$0.localID: $0.instance] } ?? [:]) : nil
            let actions = router.opened(present: present)
            sides[side] = Side(router: router)
            perform(side, actions)
            // The host makes an offer unasked, even if no guest is present.
            if side == 0 {
                openChannel(side)
                sides[side]?.nextOffer = now
            }
            report(side, instance, isThere: true)
        case .kill(let side):
            guard let instance = sides[side]?.router.instance else { return }
            sides[side] = nil
            lives[side] += 1
            report(side, instance, isThere: false)
        case .envelope(let side, let life, let envelope):
            guard lives[side] == life, var router = sides[side]?.router else { return }
            let actions = router.received(envelope)
            sides[side]?.router = router
            perform(side, actions)
        case .presence(let side, let life, let instance, let isThere):
            guard lives[side] == life, var router = sides[side]?.router else { return }
            let peer = names[1 - side]
            let actions = isThere ? router.joined(peer, instance: instance) : router.left(peer, instance: instance)
            sides[side]?.router = router
            perform(side, actions)
        }
    }

    private mutating func report(_ side: Int, _ instance: SignalingInstance, isThere: Bool) {
        guard hasPresence, sides[1 - side] != nil else { return }
        carry { .presence(to: 1 - side, life: $0.lives[1 - side], instance, isThere: isThere) }
    }

    /// Carries an event through the service once, twice or not at all.
    private mutating func carry(_ event: (Self) -> Event) {
        let isTroubled = now < trouble.until
        if isTroubled, random.fraction() < trouble.loss { return }
        for _ in 0..<(isTroubled && random.fraction() < trouble.doubling ? 2 : 1) {
            plan(event(self), after: randomDuration(upTo: isTroubled ? trouble.latest : .milliseconds(20)))
        }
    }

    private mutating func openChannel(_ side: Int) {
        guard var router = sides[side]?.router, let (channel, actions) = try? router.open(to: names[1 - side]) else {
            return faults.append("no channel")
        }
        sides[side]?.router = router
        sides[side]?.channel = channel
        perform(side, actions)
    }

    private mutating func perform(_ side: Int, _ actions: [SignalingRouter.Action]) {
        for action in actions {
            switch action {
            case .transmit(let envelope): carry { .envelope(to: 1 - side, life: $0.lives[1 - side], envelope) }
            case .deliver(let message, let channel):
                // Another action of the same step may have replaced the channel.
                if channel != sides[side]?.channel, sides[side]?.channel != nil, !message.isBye {
                    faults.append("\(message) on channel \(channel)")
                }
                heard(side, message)
            case .finish(let channel):
                guard sides[side]?.channel == channel else { continue }
                sides[side]?.channel = nil
                // The session is over; the host starts another.
                sides[side]?.agreed = nil
                if side == 0 {
                    openChannel(side)
                    sides[side]?.nextOffer = now
                }
            case .tell(.sessionRequested): openChannel(side)
            case .tell(.reset): resets += 1
            case .tell: break
            }
        }
    }

    /// The host's session repeats its offer until it is answered; the guest's session answers each new offer.
    private mutating func offer() {
        guard let channel = sides[0]?.channel else { return }
        sides[0]?.offers += 1
        let flow = SignalingFlow("\(lives[0])-\(sides[0]?.offers ?? 0)")
        sides[0]?.offered = flow
        sides[0]?.nextOffer = now + .seconds(5)
        send(0, .description(SessionDescription(kind: .offer, sdp: "", flow: flow)), on: channel)
    }

    private mutating func heard(_ side: Int, _ message: SignalingMessage) {
        guard case .description(let description) = message else { return }
        switch description.kind {
        case .offer:
            guard side == 1, let channel = sides[1]?.channel, sides[1]?.agreed != description.flow else { return }
            sides[1]?.agreed = description.flow
            send(1, .description(SessionDescription(kind: .answer, sdp: "", flow: description.flow)), on: channel)
        case .answer:
            guard side == 0, description.flow == sides[0]?.offered else { return }
            sides[0]?.agreed = description.flow
            sides[0]?.nextOffer = nil
        }
    }

    private mutating func send(_ side: Int, _ message: SignalingMessage, on channel: SignalingRouter.ChannelID) {
        guard var router = sides[side]?.router else { return }
        guard let actions = router.send(message, on: channel) else { return faults.append("a dead channel") }
        sides[side]?.router = router
        perform(side, actions)
    }

    /// Makes the host offer again, as sessions do when media does not flow.
    mutating func restart() { sides[0]?.nextOffer = now }
}

extension SignalingMessage {
    fileprivate var isBye: Bool { if case .bye = self { true } else { false } }
}
