import InletCore
import InletSystem
import InletDecode
import Synchronization

/// One source on one thread, from opening to closing: opens it, reads its frames and hands them to the dispatcher.
///
/// Its thread decides nothing: it tells its ``Delegate`` what happened and does what it is told between two frames.
final class CaptureSession: Sendable {
    typealias Outcome = CapturerStateMachine.Outcome

    /// Told what happens, on the session's thread.
    struct Delegate: Sendable {
        var opened: @Sendable (SourceFormat) -> Void
        /// A frame came after ``CaptureSession/noticeNextFrame()``.
        var frame: @Sendable () -> Void
        /// Data came after ``CaptureSession/noticeNextFrame()``, whether or not a frame comes of it.
        var progress: @Sendable () -> Void
        /// The source has paused.
        var paused: @Sendable () -> Void
        var interruption: @Sendable (String?) -> Void
        /// Decoding begins not to keep up, or keeps up again.
        var lag: @Sendable (Bool) -> Void
        /// A decoder failed, and another goes on.
        var decoderFailure: @Sendable (String, InletError, String) -> Void
        /// The source has ended and is closed next, however long that takes.
        var closing: @Sendable (Outcome) -> Void
        /// The source is closed and the thread about to end.
        var closed: @Sendable (Outcome) -> Void
    }

    let id: CapturerStateMachine.SessionID
    let context: SourceContext

    private let source: any FrameSourceConfiguration
    private let timeouts: CaptureTimeouts
    private let stopTimeout: Duration
    private let dispatcher: FrameDispatcher
    private let delegate: Delegate
    private let wakeUp: WakeUpSignal
    /// Where the thread waits during a pause.
    private let rest = ProducerGate()
    private let wantsPause = Atomic(false)
    // The first frame is always news.
    private let wantsNotice = Atomic(true)
    private let isClosing = Atomic(false)

    init(
        id: CapturerStateMachine.SessionID, source: any FrameSourceConfiguration, configuration: CapturerConfiguration,
        clock: any CaptureClock, dispatcher: FrameDispatcher, delegate: Delegate
    ) throws(InletError) {
        self.id = id
        self.source = source
        self.dispatcher = dispatcher
        self.delegate = delegate
        timeouts = configuration.timeouts
        stopTimeout = configuration.stopTimeout
        wakeUp = try WakeUpSignal()
        context = SourceContext(
            clock: clock, wakeUpDescriptor: wakeUp.descriptor, logger: configuration.logger,
            onInterruption: delegate.interruption, onProgress: delegate.progress, onLag: delegate.lag,
            onDecoderFailure: delegate.decoderFailure)
    }

    /// - Throws: ``InletError/Code/resourceExhausted`` where there is no thread for it.
    func start() throws(InletError) {
        let scheme = source.redactedURI.prefix(upToByte: ":")
        try SystemThread.start(named: "inlet-\(scheme)") { self.main() }
    }

    // MARK: From any thread

    /// Asks the source to stop. Returns at once.
    func cancel() {
        context.cancel()
        wakeUp.raise()
        dispatcher.room.signal()
        rest.signal()
    }

    /// Has the source pause before the next frame.
    func pause() { wantsPause.store(true, ordering: .releasing) }

    /// Ends a pause, or withdraws the request for one.
    func resume() {
        wantsPause.store(false, ordering: .releasing)
        rest.signal()
    }

    /// Has the delegate told of the next frame, and of the next data.
    func noticeNextFrame() {
        wantsNotice.store(true, ordering: .releasing)
        context.awaitProgress()
    }

    /// The operation that the source runs; nil while it runs none. `close()` does not count: the machine has a limit of
    /// its own for it.
    var operation: SourceOperation? {
        // In this order: a deadline of the closing is seen only after the note that it closes.
        let operation = context.operation
        return isClosing.load(ordering: .relaxed) ? nil : operation
    }

    // MARK: On the thread

    private func main() {
        let source = makeSource()
        let outcome = capture(from: source)
        isClosing.store(true, ordering: .relaxed)
        delegate.closing(outcome)
        context.setDeadline(after: stopTimeout)
        source.close()
        delegate.closed(outcome)
    }

    /// The source; one of packets with a decoder behind it.
    private func makeSource() -> any FrameSource {
        guard let packets = source as? any PacketSourceConfiguration else { return source.makeSource() }
        return DecodingSource(
            packets.makePacketSource(), packets.decoding,
            readOn: .init(
                start: { body in try SystemThread.start(named: "inlet-read", body) },
                interrupt: { [weak self] in self?.cancel() }))
    }

    private func capture(from source: any FrameSource) -> Outcome {
        do {
            context.setDeadline(after: timeouts.open)
            let format = try source.open(context)
            context.clearDeadline()
            guard !context.isCancelled, dispatcher.begin(id, format: format) else { return .ended(.cancelled) }
            delegate.opened(format)
            return try readFrames(from: source, format: format)
        } catch {
            return .failed(InletError(wrapping: error, operation: "The source").about(self.source.redactedURI))
        }
    }

    private func readFrames(from source: any FrameSource, format: SourceFormat) throws -> Outcome {
        let allowance = CapturerStateMachine.frameAllowance(timeouts, frameInterval: format.frameInterval ?? .zero)
        let longest = max(timeouts.firstFrame, allowance.restart)
        // The first frame is decoded whatever the demand, and data alone does not put it off.
        var limits = (silence: longest, total: longest, followsDemand: false)
        var paused = false
        while !context.isCancelled {
            if wantsPause.load(ordering: .acquiring) {
                context.setDeadline(after: allowance.restart)
                guard try pauseSource(source) else { return .closedForPause }
                limits = (longest, max(longest, allowance.frame), true)
                paused = true
            }
            context.setFrameDeadline(
                silence: limits.silence, total: limits.total, followsDemand: limits.followsDemand)
            guard let item = try source.next(context) else { return .ended(.endOfStream) }
            guard !context.isCancelled else { break }
            limits = (allowance.restart, allowance.frame, true)
            if wantsNotice.load(ordering: .relaxed), wantsNotice.exchange(false, ordering: .acquiring) {
                context.endInterruption()
                // Before the word, or the supervisor finds the old deadline long past.
                context.clearDeadline()
                delegate.frame()
            }
            context.clearDeadline()
            // The PTS of a source that plays from a store do not go on in a pause. One that is not paced had no time to
            // lose.
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

    /// Pauses the source until the pause or the session ends.
    ///
    /// - Returns: false where it cannot.
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
