import InletCore
import Synchronization

/// Delivers frames to the task that iterates a ``FrameSequence``.
final class SequenceDelivery: FrameReceiver {
    let id: SinkID
    let name = "frames"
    let wants: SinkWants
    let counters = SinkCounters()
    let ended = Completion<Void>()

    let takesPictures = true
    private let policy: QueuePolicy?
    var isLossless: Bool { if case .lossless = policy { true } else { false } }
    private let context: DeliveryContext
    private let mailbox = Mailbox<CapturedFrame>()
    /// Whether a frame has ever been converted to the consumer's wants.
    private let hasFitted = Atomic(false)
    private let hasEnded = Atomic(false)
    private let state = Mutex(State())

    /// Not accessed for a frame unless the task sleeps.
    private struct State {
        var error: InletError?
        /// The tasks that wait: one, unless several share the sequence.
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// Whether the next task that would wait returns at once instead.
        var isWoken = false
        /// Whether waiting is over.
        var isOver = false
    }

    init(id: SinkID, wants: SinkWants, policy: QueuePolicy?, context: DeliveryContext) {
        self.id = id
        self.policy = policy
        self.wants = wants
        self.context = context
    }

    func begin(_ format: SourceFormat?, room: ProducerGate) {
        mailbox.open(
            policy: policy ?? .standard(for: format), limiter: RateLimiter(wants, source: format), room: room,
            isProvisional: format == nil)
    }

    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool) {
        if mailbox.put(
            frame, at: frame.timestamp, isCancelled: isCancelled,
            // A placeholder never waits; a frame of the source waits until it is cancelled.
            refusedAs: frame.isPlaceholder ? .queueFull : .cancelled,
            onAdmission: { context.convertAhead(frame, for: self) },
            onDrop: { context.countDrop(of: $0, $1, by: self) })
        {
            wake()
        }
    }

    func finish(_ error: InletError?) {
        state.withLock { $0.error = error }
        _ = mailbox.finish()
        wake(isOver: true)
        markEnded(nil)
    }

    func close() { close(nil) }

    private func close(_ error: InletError?) {
        counters.countDrop(.cancelled, mailbox.close().dropped)
        wake(isOver: true)
        markEnded(error)
    }

    func next() async throws(InletError) -> VideoFrame? {
        while true {
            if Task.isCancelled {
                close()
                return nil
            }
            switch mailbox.take() {
            case .nudged: continue
            case .element(let captured): if let frame = try convert(captured) { return frame }
            case .finished: return try end()
            case .empty: await pause()
            }
        }
    }

    private func convert(_ captured: CapturedFrame) throws(InletError) -> VideoFrame? {
        do throws(InletError) {
            guard let frame = try context.convert(captured, for: self) else { return nil }
            hasFitted.store(true, ordering: .relaxed)
            context.countDelivery(of: frame, to: self, consumed: nil)
            return frame
        } catch {
            guard hasFitted.load(ordering: .relaxed) else {
                context.countDrop(of: captured, .conversionFailed, by: self)
                close(error)
                throw error
            }
            context.countDrop(of: captured, .outsidePicture, by: self)
            return nil
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
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        counters.isAttached.store(false, ordering: .relaxed)
        context.report(self, .ended(error))
        ended.resolve(())
    }

    /// Makes every waiting task check the mailbox, which knows only one consumer.
    private func wake(isOver: Bool = false) {
        let waiters = state.withLock { state in
            state.isWoken = state.waiters.isEmpty
            if isOver { state.isOver = true }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until woken by a frame, the end or a cancellation of the task.
    private func pause() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    defer { state.isWoken = false }
                    // A cancellation before this point has woken another task, if there is one.
                    guard !state.isWoken, !state.isOver, !Task.isCancelled else { return false }
                    state.waiters.append(continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            wake()
        }
    }
}
