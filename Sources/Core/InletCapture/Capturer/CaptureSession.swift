import InletCore
import InletDecode
import InletSystem
import Synchronization

/// Runs one source on one thread, from opening to closing: opens it, reads its frames and hands them to the dispatcher.
///
/// The thread decides nothing: it reports what happened to its ``Delegate`` and carries out requests between two
/// frames.
final class CaptureSession: Sendable {
    typealias Outcome = CapturerStateMachine.Outcome

    /// Callbacks that report what happens, on the session's thread.
    struct Delegate: Sendable {
        var opened: @Sendable (SourceFormat) -> Void
        /// A frame arrived after ``CaptureSession/noticeNextFrame()``.
        var frame: @Sendable () -> Void
        /// Data arrived after ``CaptureSession/noticeNextFrame()``, whether or not it yields a frame.
        var progress: @Sendable () -> Void
        /// The source has paused.
        var paused: @Sendable () -> Void
        var interruption: @Sendable (String?) -> Void
        /// Decoding no longer keeps up (true), or keeps up again (false).
        var lag: @Sendable (Bool) -> Void
        /// A decoder failed, and another continues.
        var decoderFailure: @Sendable (String, InletError, String) -> Void
        /// A new version of the source's code was found. Called on any thread.
        var update: @Sendable (SourceUpdate) -> Void
        var detection: @Sendable (SourceDetection) -> Void
        var transportChange: @Sendable (String) -> Void
        /// The source has ended and is about to be closed, however long that takes.
        var closing: @Sendable (Outcome) -> Void
        /// The source is closed and the thread is about to end.
        var closed: @Sendable (Outcome) -> Void
    }

    let id: CapturerStateMachine.SessionID
    let context: SourceContext

    private let source: any FrameSourceConfiguration
    private let account: ProcessorAccount?
    private let timeouts: CaptureTimeouts
    private let stopTimeout: Duration
    private let dispatcher: FrameDispatcher
    private let delegate: Delegate
    private let wakeUp: WakeUpSignal
    /// The gate at which the thread waits during a pause.
    private let rest = ProducerGate()
    private let wantsPause = Atomic(false)
    // The first frame is always reported.
    private let wantsNotice = Atomic(true)
    private let isClosing = Atomic(false)
    private let handOver: FrameHandOver

    init(
        id: CapturerStateMachine.SessionID, source: any FrameSourceConfiguration, configuration: CapturerConfiguration,
        clock: any CaptureClock, dispatcher: FrameDispatcher, delegate: Delegate
    ) throws(InletError) {
        self.id = id
        self.source = source
        self.dispatcher = dispatcher
        self.delegate = delegate
        account = configuration.account
        timeouts = configuration.timeouts
        stopTimeout = configuration.stopTimeout
        wakeUp = try WakeUpSignal()
        let handOver = FrameHandOver(id, dispatcher)
        self.handOver = handOver
        // Weak: statistics keep the context of the last session, and the dispatcher keeps the statistics.
        context = SourceContext(
            clock: clock, wakeUpDescriptor: wakeUp.descriptor, logger: configuration.logger,
            onInterruption: delegate.interruption, onProgress: delegate.progress, onLag: delegate.lag,
            onDecoderFailure: delegate.decoderFailure, onUpdate: delegate.update,
            onDetection: delegate.detection, onTransportChange: delegate.transportChange,
            onHandOver: { [weak handOver] in handOver?.take($0) ?? false })
    }

    /// - Throws: ``InletError/Code/resourceExhausted`` if the system refuses a thread.
    func start() throws(InletError) {
        let scheme = source.redactedURI.prefix(upToByte: ":")
        try SystemThread.start(named: "inlet-\(scheme)", account: account) { self.main() }
    }

    // MARK: From any thread

    /// Asks the source to stop. Returns at once.
    func cancel() {
        context.cancel()
        wakeUp.raise()
        dispatcher.room.signal()
        rest.signal()
    }

    /// Requests that the source pause before the next frame.
    func pause() {
        wantsPause.store(true, ordering: .releasing)
        handOver.revoke()
    }

    /// Ends a pause, or withdraws the request for one.
    func resume() {
        wantsPause.store(false, ordering: .releasing)
        rest.signal()
    }

    /// Requests that the delegate be notified of the next frame, and of the next data.
    func noticeNextFrame() {
        wantsNotice.store(true, ordering: .releasing)
        handOver.revoke()
        context.awaitProgress()
    }

    /// The operation that the source is running; nil if it is idle. `close()` does not count: the state machine
    /// applies its own limit to it.
    var operation: SourceOperation? {
        // The order matters: a deadline of `close()` is seen only after the flag that the source is closing.
        let operation = context.operation
        return isClosing.load(ordering: .relaxed) ? nil : operation
    }

    // MARK: On the thread

    private func main() {
        let source = makeSource()
        let outcome = capture(from: source)
        handOver.revoke()
        isClosing.store(true, ordering: .relaxed)
        delegate.closing(outcome)
        context.setDeadline(after: stopTimeout)
        source.close()
        delegate.closed(outcome)
    }

    /// Makes the source; a source of packets is followed by a decoder.
    private func makeSource() -> any FrameSource {
        guard let packets = source as? any PacketSourceConfiguration else { return source.makeSource() }
        let thread = DecodingSource.ReadingThread(
            start: { body in try SystemThread.start(named: "inlet-read", body) },
            interrupt: { [weak self] in self?.cancel() })
        return DecodingSource(
            packets.makePacketSource(), packets.decoding, readOn: packets.readsOnSeparateThread ? thread : nil)
    }

    private func capture(from source: any FrameSource) -> Outcome {
        do {
            context.setDeadline(after: timeouts.open)
            let format = try source.open(context)
            context.clearDeadline()
            guard !context.isCancelled, dispatcher.begin(id, format: format) else { return .ended(.cancelled) }
            delegate.opened(format)
            defer {
                dispatcher.deliverHeld(from: id) { context.isCancelled }
                dispatcher.deliverHeldPicture(from: id) { context.isCancelled }
            }
            return try readFrames(from: source, format: format)
        } catch {
            return .failed(InletError(wrapping: error, operation: "The source").about(self.source.redactedURI))
        }
    }

    private func readFrames(from source: any FrameSource, format: SourceFormat) throws -> Outcome {
        let allowance = CapturerStateMachine.frameAllowance(timeouts, frameInterval: format.frameInterval ?? .zero)
        let longest = max(timeouts.firstFrame, allowance.restart)
        // The first frame is decoded whatever the demand, and data alone does not extend its deadline.
        var limits = (silence: longest, total: longest, followsDemand: false)
        var paused = false
        /// Whether the next frame is one of many: neither the first nor the first after a pause.
        var isSteady = false
        while !context.isCancelled {
            if wantsPause.load(ordering: .acquiring) {
                context.setDeadline(after: allowance.restart)
                dispatcher.deliverHeldPicture(from: id) { context.isCancelled }
                guard try pauseSource(source) else { return .closedForPause }
                limits = (longest, max(longest, allowance.frame), true)
                (paused, isSteady) = (true, false)
            }
            context.setFrameDeadline(
                silence: limits.silence, total: limits.total, followsDemand: limits.followsDemand)
            if isSteady { lendTurn() }
            let item = try source.next(context)
            handOver.revoke()
            guard let item else { return .ended(.endOfStream) }
            guard !context.isCancelled else { break }
            limits = (allowance.restart, allowance.frame, true)
            isSteady = true
            if wantsNotice.load(ordering: .relaxed), !context.isFromBeforeInterruption(item),
                wantsNotice.exchange(false, ordering: .acquiring)
            {
                context.endInterruption()
                // Before the delegate is notified, or the supervisor would find the old deadline long past.
                context.clearDeadline()
                delegate.frame()
            }
            context.clearDeadline()
            // The PTS of a source that plays stored media do not advance during a pause. An unpaced source lost no
            // time.
            let startsAnew = paused && format.pacing != .unpaced
            paused = false
            switch dispatcher.deliver(
                item, from: id, startsAnew: startsAnew, isCancelled: { context.isCancelled })
            {
            case .goOn: break
            case .limit(let reason): return .ended(reason)
            case .notCurrent: return .ended(.cancelled)
            }
        }
        return .ended(.cancelled)
    }

    /// Lets other threads deliver while this one waits for a frame, unless the next is to pass here.
    private func lendTurn() {
        handOver.lend()
        if wantsPause.load(ordering: .acquiring) || wantsNotice.load(ordering: .acquiring) { handOver.revoke() }
    }

    /// Pauses the source until the pause or the session ends.
    ///
    /// - Returns: false if the source cannot pause.
    private func pauseSource(_ source: any FrameSource) throws -> Bool {
        guard try source.pause(context) else { return false }
        context.clearDeadline()
        delegate.paused()
        while wantsPause.load(ordering: .acquiring), !context.isCancelled { rest.wait() }
        guard !context.isCancelled else { return true }
        context.setDeadline(after: timeouts.firstFrame)
        try source.resume(context)
        return true
    }
}
