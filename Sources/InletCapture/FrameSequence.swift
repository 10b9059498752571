public import InletCore
import Synchronization

/// The frames of a capturer as an `AsyncSequence`, for one consumer.
///
/// It ends with the run, and throws the ``InletError`` that the run failed with. Letting go of the sequence, or cancelling the task that iterates,
/// detaches it. Conversion runs on the consumer's task, and only for frames that it takes.
public struct FrameSequence: AsyncSequence, Sendable {
    /// A frame as a sink gets it.
    public typealias Element = VideoFrame
    /// An ``InletError`` in every case.
    public typealias Failure = any Error
    private let subscription: Subscription

    init(_ delivery: SequenceDelivery) { subscription = Subscription(delivery) }

    /// The one iterator; a second would share its frames.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    /// Takes the frames one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: Subscription

        /// The next frame, or nil at the end or after a cancellation of the task.
        public mutating func next() async throws -> VideoFrame? { try await subscription.delivery.next() }
    }

    /// Detaches when the sequence and its iterators are gone.
    fileprivate final class Subscription: Sendable {
        let delivery: SequenceDelivery
        init(_ delivery: SequenceDelivery) { self.delivery = delivery }
        deinit { delivery.close() }
    }
}

/// Delivers frames to the task that iterates a ``FrameSequence``.
final class SequenceDelivery: FrameReceiver {
    let id: SinkID
    let name = "frames"
    let counters = SinkCounters()
    let ended = Completion<Void>()

    private let policy: QueuePolicy
    private let wants: SinkWants
    private let context: DeliveryContext
    private let state = Mutex(State())

    private struct State {
        var mailbox: Mailbox<CapturedFrame>?
        var limiter: RateLimiter?
        var isOver = false
        var error: InletError?
        var hasEnded = false
        /// The task that waits, or word that it need not.
        var waiter: CheckedContinuation<Void, Never>?
        var isWoken = false
    }

    init(id: SinkID, wants: SinkWants, policy: QueuePolicy, context: DeliveryContext) {
        self.id = id
        self.policy = policy
        self.wants = wants
        self.context = context
    }

    func begin(_ format: SourceFormat, room: ProducerGate) {
        let mailbox = Mailbox<CapturedFrame>(policy: policy, room: room) { [weak self] in self?.wake() }
        state.withLock {
            guard $0.mailbox == nil else { return }
            $0.mailbox = mailbox
            $0.limiter = wants.maximumFrameRate.map(RateLimiter.init(maximumFrameRate:))
            if $0.isOver { mailbox.close() }
        }
        wake()
    }

    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool) {
        let mailbox = state.withLock { state in
            state.limiter?.admits(frame.timestamp) == false ? nil : state.mailbox
        }
        guard let mailbox else {
            context.countDrop(of: frame, .rateLimited, by: self)
            return
        }
        mailbox.put(frame, isCancelled: isCancelled) { context.countDrop(of: $0, $1, by: self) }
    }

    func finish(_ error: InletError?) {
        let mailbox = state.withLock { state in
            state.isOver = true
            state.error = error
            return state.mailbox
        }
        mailbox?.finish()
        markEnded(nil)
        wake()
    }

    func close() {
        let mailbox = state.withLock { state in
            state.isOver = true
            return state.mailbox
        }
        if let mailbox { counters.countDrop(.cancelled, mailbox.close()) }
        markEnded(nil)
        wake()
    }

    func next() async throws(InletError) -> VideoFrame? {
        while true {
            if Task.isCancelled {
                close()
                return nil
            }
            let (mailbox, isOver) = state.withLock { ($0.mailbox, $0.isOver) }
            switch mailbox?.take() {
            case .element(let captured):
                guard let frame = context.convert(captured, to: wants.size, for: self) else { continue }
                context.countDelivery(of: frame, to: self, consumed: nil)
                return frame
            case .finished: return try end()
            case .empty: await pause()
            case nil:
                if isOver { return try end() }
                await pause()
            }
        }
    }

    private func end() throws(InletError) -> VideoFrame? {
        let error = state.withLock { state in
            defer { state.error = nil }
            return state.error
        }
        if let error { throw error }
        return nil
    }

    private func markEnded(_ error: InletError?) {
        let first = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        guard first else { return }
        counters.isAttached.store(false, ordering: .relaxed)
        context.onEnd(self, error)
        ended.resolve(())
    }

    private func wake() {
        let waiter = state.withLock { state in
            state.isWoken = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Sleeps until woken, by a frame, the end or a cancellation of the task.
    private func pause() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWoken = state.withLock { state in
                    if !state.isWoken { state.waiter = continuation }
                    defer { state.isWoken = false }
                    return state.isWoken
                }
                if isWoken { continuation.resume() }
            }
        } onCancel: {
            wake()
        }
    }
}
