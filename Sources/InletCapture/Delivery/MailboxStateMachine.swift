import DequeModule
import InletCore

/// What a mailbox decides, without any lock, thread or clock: who must be woken, what is dropped and why.
struct MailboxStateMachine<Element> {
    private var policy: QueuePolicy
    private var waiting: Deque<Element> = []
    /// Whether the consumer was told that something waits, or is busy with what it took. It is woken only from
    /// idleness.
    private var consumerIsAwake = false
    private var producerWaits = false
    private var phase = Phase.open

    private enum Phase { case open, finishing, closed }

    init(policy: QueuePolicy) {
        self.policy = policy
    }

    /// Sets how elements are taken in from now on.
    mutating func setPolicy(_ policy: QueuePolicy) {
        self.policy = policy
        waiting.reserveCapacity(min(policy.capacity, 64))
    }

    var count: Int { waiting.count }

    /// Whether what is put in is sure to be taken, unless the end comes before.
    var losesNothing: Bool { if case .lossless = policy { phase == .open } else { false } }

    enum PutResult {
        /// It waits now. The element it pushed out is returned to be let go of outside the lock.
        case stored(wakeConsumer: Bool, dropped: Element?, reason: DropReason)
        /// It was not taken in.
        case refused(reason: DropReason)
        /// There is no room, and nothing may be dropped: try again when woken.
        case full
    }

    mutating func put(_ element: Element) -> PutResult {
        guard phase == .open else { return .refused(reason: .cancelled) }
        var dropped: Element?
        var reason = DropReason.superseded
        if waiting.count >= policy.capacity {
            switch policy {
            case .latest:
                dropped = waiting.popFirst()
            case .buffered(_, .oldest):
                dropped = waiting.popFirst()
                reason = .queueFull
            case .buffered(_, .newest):
                return .refused(reason: .queueFull)
            case .lossless:
                producerWaits = true
                return .full
            }
        }
        waiting.append(element)
        let wake = !consumerIsAwake
        consumerIsAwake = true
        return .stored(wakeConsumer: wake, dropped: dropped, reason: reason)
    }

    enum TakeResult {
        case element(Element, wakeProducer: Bool)
        /// Nothing waits; the consumer sleeps until it is woken.
        case empty
        /// Nothing waits and nothing will come.
        case finished
    }

    mutating func take() -> TakeResult {
        guard let element = waiting.popFirst() else {
            guard phase == .open else { return .finished }
            consumerIsAwake = false
            return .empty
        }
        let wake = producerWaits
        producerWaits = false
        return .element(element, wakeProducer: wake)
    }

    struct EndResult {
        /// Whether the consumer sleeps and must be woken to see the end.
        var wakeConsumer: Bool
        var wakeProducer: Bool
        /// What will not be delivered.
        var dropped: Deque<Element>
    }

    /// No more elements will come; those that wait are still delivered.
    mutating func finish() -> EndResult { end(.finishing, dropping: false) }

    /// No more elements will come, and those that wait are dropped.
    mutating func close() -> EndResult { end(.closed, dropping: true) }

    private mutating func end(_ newPhase: Phase, dropping: Bool) -> EndResult {
        guard phase != .closed, phase != newPhase else {
            return EndResult(wakeConsumer: false, wakeProducer: false, dropped: [])
        }
        phase = newPhase
        var dropped: Deque<Element> = []
        if dropping { swap(&dropped, &waiting) }
        let result = EndResult(wakeConsumer: !consumerIsAwake, wakeProducer: producerWaits, dropped: dropped)
        consumerIsAwake = true
        producerWaits = false
        return result
    }
}
