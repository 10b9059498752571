import Dispatch
import InletCore
import InletSystem
import Synchronization

// Unsafe: has a sink that only its thread uses.
/// Delivers frames to one sink on its own thread: takes from the mailbox, converts, hands over.
///
/// A sink that never blocks (``FrameSink/consumesAtOnce``) gets its frames on the producer's thread instead, while the
/// mailbox is empty and the sink's thread sleeps, if the frames need no conversion: that saves the hand-over, which
/// costs more than such a sink. Its own thread starts and finishes it, and delivers the queued frames.
///
/// A thread rather than a dispatch queue: it is woken in half the time, and a sink that blocks occupies no worker of a
/// pool. The thread starts with the first frame, or to finish the sink, and ends with the sink.
/// `Docs/design/0011-supervision.md` has the figures.
final class SinkDelivery: FrameReceiver, PacketReceiver, ConditionReceiver {
    let id: SinkID
    let name: String
    let counters = SinkCounters()
    let ended = Completion<Void>()

    private let policy: QueuePolicy?
    var isLossless: Bool { if case .lossless = policy { true } else { false } }
    let context: DeliveryContext
    /// Signalled each time that the thread should check the mailbox.
    let signal = DispatchSemaphore(value: 0)
    let mailbox = Mailbox<CapturedFrame>()
    let state: Mutex<State>
    let worker: Worker
    /// Whether the sink is consumed on the producer's thread.
    let isImmediate: Bool

    /// State shared by the capture thread, the sink's thread and the application's.
    struct State {
        var wants: SinkWants
        var reduction = PictureReduction()
        /// Hands packets to a sink that takes those as well. Each sink has its own tap.
        var tap: PacketTap?
        /// Nil until a source has been open.
        var format: SourceFormat?
        /// Whether frames are expected, as last reported.
        var condition = SourceCondition.live
        /// Whether the thread is running.
        var isStarted = false
        /// False while a failed sink waits to be recreated: nothing is converted for it then.
        var hasSink = true
        /// Whether the sink had use for pictures when it was last asked. Otherwise none is converted ahead for it.
        var takesFrames: Bool
        /// Whether the sink has had no use for pictures for a while.
        var isIdle = false
        /// The time at which an idle sink was last asked whether it has use for pictures.
        var lastAsked: MonotonicTime?

        /// The tap; nil if the source or the sink handles only pictures.
        var packetTap: PacketTap? { format.map { $0.hasPackets && $0.pacing != .unpaced } ?? true ? tap : nil }
    }

    /// The sink's wants, reduced to those that it gets.
    var wants: SinkWants {
        let (wants, reduction, format) = state.withLock { ($0.wants, $0.reduction, $0.format) }
        guard reduction != PictureReduction() else { return wants }
        return reduction.reduce(wants, of: format, hasViewers: counters.hasSessions)
    }

    /// `@unchecked Sendable`: touched only by the consumer of the mailbox, which is the sink's thread, a producer that
    /// has taken its place, or the thread that could not start it. The mailbox's lock lies between two consumers.
    final class Worker: @unchecked Sendable {
        /// Nil while a failed sink waits to be recreated, and after the end.
        var sink: (any FrameSink)?
        let restart: Restart?
        var schedule: RestartSchedule?
        /// The failure of the sink that waits to be recreated.
        var failure: InletError?
        var hasStarted = false
        /// Whether a frame has ever been converted to the sink's wants.
        var hasFitted = false
        var hasEnded = false
        /// A frame that was taken for a sink that has to be started first.
        var first: CapturedFrame?
        /// Whether the sink itself determines its wants.
        let decidesWants: Bool
        /// The time since which the sink has had no use for pictures; nil if it has.
        var unusedSince: MonotonicTime?
        /// The condition of the source that the sink knows. While frames arrive, it need not be notified at first.
        var toldCondition = SourceCondition.live

        init(sink: any FrameSink, restart: Restart?, decidesWants: Bool) {
            self.sink = sink
            self.restart = restart
            self.decidesWants = decidesWants
            schedule = restart.map { RestartSchedule($0.delay) }
        }
    }

    /// The schedule by which a failed sink is recreated.
    struct Restart: Sendable {
        var configuration: any FrameSinkConfiguration
        var delay: RestartDelay
    }

    /// - Parameter wants: if nil, the sink determines them.
    init(
        id: SinkID, name: String, sink: sending any FrameSink, wants: SinkWants? = nil, policy: QueuePolicy?,
        restart: Restart? = nil, context: DeliveryContext
    ) {
        self.id = id
        self.name = name
        self.policy = policy
        self.context = context
        isImmediate = sink.consumesAtOnce
        state = Mutex(
            State(
                wants: wants ?? sink.wants, tap: Self.tap(of: sink, id, name, context), takesFrames: sink.takesFrames))
        worker = Worker(sink: sink, restart: restart, decidesWants: wants == nil)
    }

    private static func tap(
        of sink: any FrameSink, _ id: SinkID, _ name: String, _ context: DeliveryContext
    ) -> PacketTap? {
        sink.makePassThrough().map {
            PacketTap(
                $0, id: id, name: name, onChange: context.wantsChanged, onKeyFrameRequest: context.requestKeyFrame)
        }
    }

    // MARK: Frames

    func begin(_ format: SourceFormat?, room: ProducerGate) {
        state.withLock { $0.format = format }
        mailbox.open(
            policy: policy ?? .standard(for: format), limiter: RateLimiter(wants, source: format), room: room,
            isProvisional: format == nil)
    }

    func finish(_ error: InletError?) {
        if mailbox.finish() { wake() }
    }

    func close() {
        let (dropped, mustWake) = mailbox.close()
        counters.countDrop(.cancelled, dropped)
        if mustWake { wake() }
    }

    func sourceChanged(to condition: SourceCondition) {
        let isStarted = state.withLock { state in
            state.condition = condition
            return state.isStarted
        }
        // A sink that has not started is notified when it starts.
        if isStarted { nudge() }
    }

    /// Makes the delivering thread check for changes other than those of the mailbox. The thread has started.
    func nudge() { if mailbox.nudge() { signal.signal() } }

    /// Makes the thread check the mailbox. Called once for each time that it fell asleep, and at the beginning.
    func wake() {
        let isStarted = state.withLock { state in
            defer { state.isStarted = true }
            return state.isStarted
        }
        guard isStarted else {
            do throws(InletError) {
                try SystemThread.start(named: "inlet-\(name)", account: context.account) { self.work() }
            } catch {
                // No thread exists that could access the worker.
                if let frame = worker.first.take() { context.countDrop(of: frame, .cancelled, by: self) }
                stop(error.about(name))
            }
            return
        }
        signal.signal()
    }

    private func work() {
        while true {
            if let frame = worker.first.take() { deliver(frame) }
            // Once the mailbox is empty, a producer may take this thread's place, so the worker is not accessed.
            if drain(finishes: true) { return }
            signal.wait()
        }
    }

    /// Delivers until the mailbox is empty. Runs on the consumer's thread.
    ///
    /// - Returns: whether the mailbox has ended.
    func drain(finishes: Bool) -> Bool {
        while true {
            tellCondition()
            askIdleSink()
            switch mailbox.take() {
            case .element(let frame): deliver(frame)
            case .nudged: continue
            case .empty: return false
            case .finished:
                if finishes { end(worker.failure) }
                return true
            }
        }
    }

    func deliver(_ captured: CapturedFrame) {
        guard let sink = sinkForNextFrame() else {
            context.countDrop(of: captured, .sinkFailed, by: self)
            return
        }
        do throws(InletError) {
            guard try hasUse(for: captured, sink) else { return }
            guard let frame = try context.convert(captured, for: self) else { return }
            worker.hasFitted = true
            hand(frame, of: captured, to: sink)
        } catch {
            if worker.hasFitted {
                context.countDrop(of: captured, .outsidePicture, by: self)
            } else {
                context.countDrop(of: captured, .conversionFailed, by: self)
                stop(error.about(name))
            }
        }
    }

    /// Returns whether the sink has use for a frame. If not, the sink is started nevertheless, without converting the
    /// frame, which is dropped.
    private func hasUse(for captured: CapturedFrame, _ sink: any FrameSink) throws(InletError) -> Bool {
        if !worker.hasStarted, !sink.takesFrames {
            let wants = wants
            let adaptation = try captured.adaptation(to: wants, by: context.conversion.filtering)
            let shape = captured.format(as: adaptation)
            worker.hasFitted = true
            do {
                try start(sink, VideoFormat(shape, of: state.withLock { $0.format }, wants: wants))
            } catch {
                failed(error, captured)
                return false
            }
        }
        let takesFrames = sink.takesFrames
        noteUse(takesFrames)
        guard !takesFrames else { return true }
        context.countDrop(of: captured, .notConnected, by: self)
        if worker.decidesWants { follow(sink.wants) }
        return false
    }

    private func start(_ sink: any FrameSink, _ format: VideoFormat) throws {
        let (counters, watchersChanged) = (counters, context.watchersChanged)
        let sinkContext = SinkContext(
            statistics: { [context = context.sinkContext] in context.statistics },
            sessions: { [weak self] sessions in
                let isOther = counters.setSessions(sessions)
                if isOther { watchersChanged() }
                // An idle sink is asked whether it has use for pictures: a session that was pending may have come up.
                if let self, isOther || isIdle { nudge() }
            })
        try sink.start(format, sinkContext)
        worker.hasStarted = true
        worker.toldCondition = .live
        tellCondition()
    }

    private func hand(_ frame: VideoFrame, of captured: CapturedFrame, to sink: any FrameSink) {
        do {
            if !worker.hasStarted {
                try start(sink, VideoFormat(frame.frameShape, of: state.withLock { $0.format }, wants: wants))
            }
            try sink.consume(frame)
        } catch {
            failed(error, captured, stages: frame.stages)
            return
        }
        if worker.decidesWants { follow(sink.wants) }
        let consumed = context.clock.now
        worker.schedule?.deliver(at: consumed)
        context.countDelivery(of: frame, to: self, consumed: consumed)
    }

    /// Handles an error that the sink threw while it started or took a frame.
    private func failed(_ error: any Error, _ captured: CapturedFrame, stages: StageTimes? = nil) {
        guard !(error is SinkStopped) else {
            context.countDrop(of: captured, .cancelled, by: self, stages: stages)
            return stop(nil)
        }
        context.countDrop(of: captured, .sinkFailed, by: self, stages: stages)
        fail(InletError(wrapping: error, operation: "The sink").about(name))
    }

    /// Notifies the sink whether frames are expected, if that has changed.
    private func tellCondition() {
        guard worker.hasStarted, let sink = worker.sink else { return }
        let now = state.withLock { $0.condition }
        guard now != worker.toldCondition else { return }
        worker.toldCondition = now
        sink.sourceChanged(to: now)
    }

    /// Adopts the sink's current wants.
    func follow(_ wanted: SinkWants) {
        let before = wants
        let isOther = state.withLock { state in
            defer { state.wants = wanted }
            return state.wants != wanted
        }
        guard isOther else { return }
        followRate(from: before)
        context.wantsChanged()
    }

    /// Returns the sink, recreated if it failed and its delay has passed; nil before that.
    private func sinkForNextFrame() -> (any FrameSink)? {
        if let sink = worker.sink { return sink }
        guard let restart = worker.restart, worker.schedule?.restart(at: context.clock.now) == true else { return nil }
        worker.failure = nil
        let sink = restart.configuration.makeSink()
        worker.sink = sink
        let tap = Self.tap(of: sink, id, name, context)
        let takesFrames = sink.takesFrames
        state.withLock { ($0.hasSink, $0.tap, $0.takesFrames) = (true, tap, takesFrames) }
        context.wantsChanged()
        return sink
    }

    /// Finishes a failed sink, and schedules a new one or ends.
    private func fail(_ error: InletError) {
        guard !RetryPolicy.isPermanent(error), let next = worker.schedule?.fail(at: context.clock.now) else {
            stop(error)
            return
        }
        // The sink has failed already, and that first error counts.
        _ = finishSink()
        worker.failure = error
        context.report(self, .restarting(error, attempt: next.attempt, delay: next.delay))
    }

    /// Accepts no more frames, and ends.
    private func stop(_ error: InletError?) {
        counters.countDrop(.cancelled, mailbox.close().dropped)
        end(error)
    }

    /// Finishes the sink, once. Runs on the thread.
    private func end(_ error: InletError?) {
        guard !worker.hasEnded else { return }
        worker.hasEnded = true
        let failure = finishSink()
        counters.isAttached.store(false, ordering: .relaxed)
        context.report(self, .ended(error ?? failure))
        ended.resolve(())
    }

    /// Lets the sink write its remaining data, if it had started, and releases it.
    private func finishSink() -> InletError? {
        defer {
            (worker.sink, worker.unusedSince) = (nil, nil)
            let wasIdle = state.withLock { state in
                defer { (state.hasSink, state.isIdle) = (false, false) }
                return state.isIdle
            }
            worker.hasStarted = false
            if wasIdle { context.wantsChanged() }
        }
        counters.forgetSessions()
        if let tap = state.withLock({ $0.tap.take() }) {
            tap.close()
            context.wantsChanged()
        }
        guard worker.hasStarted else { return nil }
        do {
            try worker.sink?.finish()
        } catch is SinkStopped {
        } catch {
            return InletError(wrapping: error, operation: "Finishing the sink").about(name)
        }
        return nil
    }
}

extension RateLimiter {
    /// Makes the limiter of a source's frames for a receiver; nil if it wants all.
    init?(_ wants: SinkWants, source: SourceFormat?) {
        guard let rate = wants.maximumFrameRate else { return nil }
        self.init(maximumFrameRate: rate, sourceFrameRate: source?.frameRate)
    }
}
