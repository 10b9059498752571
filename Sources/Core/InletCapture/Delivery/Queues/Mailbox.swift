import Dispatch
import InletCore
import Synchronization

/// A bounded queue of frames between the capture thread and one consumer, with its own policy and rate.
///
/// It has one producer at a time and one consumer. A second producer is allowed only if the first was given up. Late
/// elements of the first, older than the newest element, are refused, so that elements come out in the order of their
/// times. Putting takes one lock and never blocks except under ``QueuePolicy/lossless(_:)``, and then only until there
/// is room, the mailbox ends or the producer is cancelled. It can be finished or closed before it is opened.
final class Mailbox<Element: Sendable>: Sendable {
    private let state = Mutex(State())

    private struct State {
        var machine = MailboxStateMachine<Element>(policy: .latest)
        var limiter: RateLimiter?
        var isSettled = false
        /// Whether the consumer must check for other changes before it sleeps.
        var isNudged = false
        /// The time of the newest element that was put in.
        var newest: MonotonicTime?
        /// Signalled when a producer that was refused for lack of room should try again.
        var room: ProducerGate?

        /// Whether a newer element was put in before.
        func isLate(_ time: MonotonicTime) -> Bool { newest.map { time < $0 } ?? false }

        mutating func put(_ element: Element, at time: MonotonicTime) -> MailboxStateMachine<Element>.PutResult {
            if isLate(time) { return .refused(reason: .outOfOrder) }
            let result = machine.put(element)
            if case .stored = result { newest = time }
            return result
        }
    }

    /// Sets how elements are accepted, before the first of a source.
    ///
    /// - Parameters:
    ///   - policy: takes effect until a policy that is not provisional has been set.
    ///   - limiter: thins the elements out. Set under the same rule as the policy, so that the spacing is kept across
    ///     sources.
    ///   - room: the gate at which the producer waits; one capture thread has one gate for all its mailboxes.
    ///   - isProvisional: whether the policy and the limiter are for elements before the first source.
    func open(policy: QueuePolicy, limiter: RateLimiter?, room: ProducerGate, isProvisional: Bool = false) {
        state.withLock {
            if !$0.isSettled {
                $0.machine.setPolicy(policy)
                $0.limiter = limiter
                $0.isSettled = !isProvisional
            }
            $0.room = room
        }
    }

    /// Sets the limiter from the next element on.
    func setLimiter(_ limiter: RateLimiter?) { state.withLock { $0.limiter = limiter } }

    /// Puts an element in. Waits for room if the policy requires it.
    ///
    /// - Parameters:
    ///   - time: the element's place on the timeline, for the rate.
    ///   - refusal: the reason that is given if there was no room and the producer was cancelled.
    ///   - onAdmission: called before the element is put in, if it is certain to be taken.
    ///   - onDrop: called with each element that will not be delivered, an older one or this one, and the reason.
    /// - Returns: whether the consumer sleeps and must be woken to call ``take()``: true only once each time it fell
    ///   asleep.
    func put(
        _ element: Element, at time: MonotonicTime, isCancelled: () -> Bool, refusedAs refusal: DropReason = .cancelled,
        onAdmission: () -> Void = {}, onDrop: (Element, DropReason) -> Void
    ) -> Bool {
        let first = state.withLock { state -> MailboxStateMachine<Element>.PutResult? in
            if state.isLate(time) { return .refused(reason: .outOfOrder) }
            guard state.limiter?.admits(time) != false else { return .refused(reason: .rateLimited) }
            return state.machine.losesNothing ? nil : state.put(element, at: time)
        }
        if first == nil { onAdmission() }
        var result = first ?? state.withLock { $0.put(element, at: time) }
        while true {
            switch result {
            case .stored(let wake, let dropped, let reason):
                if let dropped { onDrop(dropped, reason) }
                return wake
            case .refused(let reason):
                onDrop(element, reason)
                return false
            case .full:
                guard let room = state.withLock({ $0.room }), !isCancelled() else {
                    onDrop(element, refusal)
                    return false
                }
                room.wait()
                result = state.withLock { $0.put(element, at: time) }
            }
        }
    }

    /// The result of ``claim(for:)``.
    enum Claim {
        /// The caller is the consumer now, and takes the element first.
        case claimed
        /// The element will not be delivered.
        case refused(DropReason)
        /// The element is to be put in.
        case notNow
    }

    /// Makes the producer the consumer, if the consumer sleeps and nothing is queued. The producer then calls
    /// ``take()`` until the mailbox is empty, like a woken consumer.
    ///
    /// - Parameter time: the place on the timeline of the producer's element, which is taken without being put in.
    func claim(for time: MonotonicTime) -> Claim {
        state.withLock { state in
            guard state.machine.canBeClaimed, !state.isLate(time) else { return .notNow }
            guard state.limiter?.admits(time) != false else { return .refused(.rateLimited) }
            _ = state.machine.claim()
            state.newest = time
            return .claimed
        }
    }

    /// Makes the consumer check for changes other than elements.
    ///
    /// - Returns: whether the consumer sleeps and must be woken to call ``take()``. Otherwise that returns
    ///   ``Taken/nudged`` before it returns ``Taken/empty``.
    func nudge() -> Bool {
        state.withLock { state in
            if state.machine.claim() { return true }
            state.isNudged = true
            return false
        }
    }

    /// Returns the next element, or the reason for its absence. Called only by the consumer.
    func take() -> Taken {
        let (result, isNudged) = state.withLock { state in
            let result = state.machine.take()
            guard case .empty = result, state.isNudged else { return (result, false) }
            state.isNudged = false
            return (result, state.machine.claim())
        }
        switch result {
        case .element(let element, let wakeProducer):
            if wakeProducer { signalRoom() }
            return .element(element)
        case .empty: return isNudged ? .nudged : .empty
        case .finished: return .finished
        }
    }

    enum Taken {
        case element(Element)
        /// There may be something else to do: see ``nudge()``.
        case nudged
        case empty
        case finished
    }

    /// Accepts no more elements; those queued are still delivered.
    ///
    /// - Returns: whether the consumer sleeps and must be woken to see the end.
    func finish() -> Bool { end { $0.finish() }.wakeConsumer }

    /// Ends at once.
    ///
    /// - Returns: how many queued elements were dropped, and whether the consumer sleeps and must be woken to see the
    ///   end.
    func close() -> (dropped: Int, wakeConsumer: Bool) {
        let result = end { $0.close() }
        return (result.dropped.count, result.wakeConsumer)
    }

    private func end(
        _ body: (inout MailboxStateMachine<Element>) -> MailboxStateMachine<Element>.EndResult
    ) -> MailboxStateMachine<Element>.EndResult {
        let result = state.withLock { body(&$0.machine) }
        if result.wakeProducer { signalRoom() }
        return result
    }

    private func signalRoom() { state.withLock { $0.room }?.signal() }
}
