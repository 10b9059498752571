import DequeModule
import InletCore

/// The decisions of a mailbox, without any lock, thread or clock: the side to wake, the elements to drop, and the
/// reasons.
struct MailboxStateMachine<Element> {
    private var policy: QueuePolicy
    private var waiting: Deque<Element> = []
    /// Whether the consumer was woken, or is busy with the element that it took. It is woken only while it is idle.
    private var consumerIsAwake = false
    private var producerWaits = false
    private var phase = Phase.open

    private enum Phase { case open, finishing, closed }

    init(policy: QueuePolicy) {
        self.policy = policy
    }

    /// Sets the policy for elements put in from now on.
    mutating func setPolicy(_ policy: QueuePolicy) {
        self.policy = policy
        waiting.reserveCapacity(min(policy.capacity, 64))
    }

    var count: Int { waiting.count }

    /// Whether an element put in is certain to be taken, unless the mailbox ends before.
    var losesNothing: Bool { if case .lossless = policy { phase == .open } else { false } }

    enum PutResult {
        /// The element is queued. The element that it displaced is returned, to be released outside the lock.
        case stored(wakeConsumer: Bool, dropped: Element?, reason: DropReason)
        /// The element was refused.
        case refused(reason: DropReason)
        /// The queue is full, and nothing may be dropped: try again when woken.
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
        /// The mailbox is empty; the consumer sleeps until it is woken.
        case empty
        /// The mailbox is empty and no element will follow.
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

    /// Takes the consumer's place without an element, as if it had been woken.
    ///
    /// - Returns: false if the consumer is awake, an element is queued or the mailbox has ended.
    mutating func claim() -> Bool {
        guard canBeClaimed else { return false }
        consumerIsAwake = true
        return true
    }

    /// Whether ``claim()`` would succeed.
    var canBeClaimed: Bool { phase == .open && !consumerIsAwake && waiting.isEmpty }

    struct EndResult {
        /// Whether the consumer sleeps and must be woken to see the end.
        var wakeConsumer: Bool
        var wakeProducer: Bool
        /// Elements that will not be delivered.
        var dropped: Deque<Element>
    }

    /// Accepts no more elements; those queued are still delivered.
    mutating func finish() -> EndResult { end(.finishing, dropping: false) }

    /// Accepts no more elements, and drops those queued.
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
