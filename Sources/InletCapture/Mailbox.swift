import Dispatch
import InletCore
import Synchronization

/// Where frames wait between the capture thread and one consumer: bounded, with its own policy.
///
/// One producer and one consumer. Putting never blocks except under ``QueuePolicy/lossless(_:)``, and then only until there is room, the
/// mailbox ends or the producer is cancelled.
final class Mailbox<Element: Sendable>: Sendable {
    private let state: Mutex<MailboxStateMachine<Element>>
    private let wakeConsumer: @Sendable () -> Void
    /// Signalled when a producer that was refused for lack of room should try again.
    private let room: ProducerGate

    /// - Parameters:
    ///   - room: the gate at which the producer waits; one capture thread has one gate for all its mailboxes.
    ///   - wakeConsumer: called outside the lock, on the producer's thread, when the consumer sleeps and should call ``take()``.
    init(policy: QueuePolicy, room: ProducerGate, wakeConsumer: @escaping @Sendable () -> Void) {
        state = Mutex(MailboxStateMachine(policy: policy))
        self.room = room
        self.wakeConsumer = wakeConsumer
    }

    /// Puts an element in, waiting for room where the policy says so.
    ///
    /// - Parameter onDrop: called with each element that will not be delivered, an older one or this one, and the reason.
    func put(_ element: Element, isCancelled: () -> Bool, onDrop: (Element, DropReason) -> Void) {
        var element = element
        while true {
            switch state.withLock({ $0.put(element) }) {
            case .stored(let wake, let dropped, let reason):
                if wake { wakeConsumer() }
                if let dropped { onDrop(dropped, reason) }
                return
            case .refused(let refused, let reason):
                onDrop(refused, reason)
                return
            case .full(let refused):
                guard !isCancelled() else {
                    onDrop(refused, .cancelled)
                    return
                }
                element = refused
                room.wait()
            }
        }
    }

    /// The next element, or why there is none. Called by the consumer only.
    func take() -> Taken {
        switch state.withLock({ $0.take() }) {
        case .element(let element, let wakeProducer):
            if wakeProducer { room.signal() }
            return .element(element)
        case .empty: return .empty
        case .finished: return .finished
        }
    }

    enum Taken {
        case element(Element)
        case empty
        case finished
    }

    /// No more elements will come; those that wait are still delivered.
    func finish() { finishUp(state.withLock { $0.finish() }) }

    /// Ends at once.
    ///
    /// - Returns: how many waiting elements were dropped.
    @discardableResult
    func close() -> Int {
        let result = state.withLock { $0.close() }
        finishUp(result)
        return result.dropped.count
    }

    private func finishUp(_ result: MailboxStateMachine<Element>.EndResult) {
        if result.wakeProducer { room.signal() }
        if result.wakeConsumer { wakeConsumer() }
    }
}

/// Where a capture thread waits for room in a lossless mailbox. A cancellation opens it, too.
final class ProducerGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func signal() { semaphore.signal() }

    /// Returns once signalled; the caller then looks again whether there is room, for a signal may be an old one.
    func wait() { semaphore.wait() }
}
