import Dispatch
import InletCore
import InletSystem
import Synchronization

/// Delivers frames to one sink on its own thread: takes from the mailbox, converts, hands over.
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
    private let context: DeliveryContext
    /// Signalled each time that the thread should check the mailbox.
    private let signal = DispatchSemaphore(value: 0)
    private let mailbox = Mailbox<CapturedFrame>()
    private let state: Mutex<State>
    private let worker: Worker

    /// State shared by the capture thread, the sink's thread and the application's.
    private struct State {
        var wants: SinkWants
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

        /// The tap, or nil if the source or the sink is one of pictures alone.
        var packetTap: PacketTap? { format.map { $0.hasPackets && $0.pacing != .unpaced } ?? true ? tap : nil }
    }

    var wants: SinkWants { state.withLock { $0.wants } }

    /// Touched on the sink's thread only, which is what makes it safe to hand around.
    private final class Worker: @unchecked Sendable {
        /// Nil while a failed sink waits to be recreated, and after the end.
        var sink: (any FrameSink)?
        let restart: Restart?
        var schedule: RestartSchedule?
        /// The failure of the sink that waits to be recreated.
        var failure: InletError?
        var hasStarted = false
        /// Whether a frame has ever been converted to what the sink wants.
        var hasFitted = false
        var hasEnded = false
        /// Whether the sink itself determines its wants.
        let decidesWants: Bool
        /// The condition of the source that the sink knows. While frames arrive, it need not be notified at first.
        var toldCondition = SourceCondition.live

        init(sink: any FrameSink, restart: Restart?, decidesWants: Bool) {
            self.sink = sink
            self.restart = restart
            self.decidesWants = decidesWants
            schedule = restart.map { RestartSchedule($0.delay) }
        }
    }

    /// How a sink that failed is recreated.
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
        state = Mutex(State(wants: wants ?? sink.wants, tap: Self.tap(of: sink, id, name, context)))
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

    // MARK: Packets

    var takesPackets: Bool { state.withLock { $0.packetTap != nil } }

    var takesPictures: Bool { state.withLock { $0.packetTap }?.wantsPictures ?? true }

    func offer(_ packet: EncodedPacket, of parameters: CodecParameters, isCancelled: () -> Bool) {
        state.withLock { $0.tap }?.offer(packet, of: parameters)
    }

    func losePacket(_ reason: DropReason) { state.withLock { $0.tap }?.lose() }

    // MARK: Frames

    func begin(_ format: SourceFormat?, room: ProducerGate) {
        let wants = state.withLock { state in
            state.format = format
            return state.wants
        }
        mailbox.open(
            policy: policy ?? .standard(for: format), limiter: RateLimiter(wants, source: format), room: room,
            isProvisional: format == nil)
    }

    func offer(_ frame: CapturedFrame, isCancelled: () -> Bool) {
        // Pictures already on their way when the sink wants no more, or that another sink wants.
        guard frame.isPlaceholder || takesPictures else { return }
        if mailbox.put(
            frame, at: frame.timestamp, isCancelled: isCancelled,
            // A placeholder never waits; a frame of the source waits until it is cancelled.
            refusedAs: frame.isPlaceholder ? .queueFull : .cancelled,
            onAdmission: { if state.withLock({ $0.hasSink }) { context.convertAhead(frame, for: self) } },
            onDrop: { context.countDrop(of: $0, $1, by: self) })
        {
            wake()
        }
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
        if isStarted { signal.signal() }
    }

    /// Makes the thread check the mailbox. Called once for each time that it fell asleep, and at the beginning.
    private func wake() {
        let isStarted = state.withLock { state in
            defer { state.isStarted = true }
            return state.isStarted
        }
        guard isStarted else {
            do throws(InletError) {
                try SystemThread.start(named: "inlet-\(name)") { self.work() }
            } catch {
                // There is no thread that could access the worker.
                stop(error.about(name))
            }
            return
        }
        signal.signal()
    }

    private func work() {
        while true {
            drain()
            if worker.hasEnded { return }
            signal.wait()
        }
    }

    /// Delivers until the mailbox is empty. Runs on the thread.
    private func drain() {
        while true {
            tellCondition()
            switch mailbox.take() {
            case .element(let frame): deliver(frame)
            case .empty: return
            case .finished:
                end(worker.failure)
                return
            }
        }
    }

    private func deliver(_ captured: CapturedFrame) {
        guard let sink = sinkForNextFrame() else {
            context.countDrop(of: captured, .sinkFailed, by: self)
            return
        }
        do throws(InletError) {
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

    private func hand(_ frame: VideoFrame, of captured: CapturedFrame, to sink: any FrameSink) {
        do {
            if !worker.hasStarted {
                let format = VideoFormat(frame, of: state.withLock { $0.format }, wants: wants)
                try sink.start(format, context.sinkContext)
                worker.hasStarted = true
                worker.toldCondition = .live
                tellCondition()
            }
            try sink.consume(frame)
        } catch is SinkStopped {
            context.countDrop(of: captured, .cancelled, by: self, stages: frame.stages)
            stop(nil)
            return
        } catch {
            context.countDrop(of: captured, .sinkFailed, by: self, stages: frame.stages)
            fail(InletError(wrapping: error, operation: "The sink").about(name))
            return
        }
        if worker.decidesWants { follow(sink.wants) }
        let consumed = context.clock.now
        worker.schedule?.deliver(at: consumed)
        context.countDelivery(of: frame, to: self, consumed: consumed)
    }

    /// Notifies the sink whether frames are expected, if that has changed.
    private func tellCondition() {
        guard worker.hasStarted, let sink = worker.sink else { return }
        let now = state.withLock { $0.condition }
        guard now != worker.toldCondition else { return }
        worker.toldCondition = now
        sink.sourceChanged(to: now)
    }

    /// Adopts what the sink wants now.
    private func follow(_ wanted: SinkWants) {
        let (before, format) = state.withLock { state in
            defer { state.wants = wanted }
            return (state.wants, state.format)
        }
        guard wanted != before else { return }
        if wanted.maximumFrameRate != before.maximumFrameRate {
            mailbox.setLimiter(RateLimiter(wanted, source: format))
        }
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
        state.withLock { ($0.hasSink, $0.tap) = (true, tap) }
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

    /// Lets the sink write what is left, if it had started, and releases it.
    private func finishSink() -> InletError? {
        defer {
            worker.sink = nil
            state.withLock { $0.hasSink = false }
            worker.hasStarted = false
        }
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

extension VideoFormat {
    /// The format of a sink's first frame.
    fileprivate init(_ frame: VideoFrame, of source: SourceFormat?, wants: SinkWants) {
        var rate = source?.frameRate
        if let most = wants.maximumFrameRate { rate = rate.map { min($0, most) } ?? most }
        self.init(
            size: frame.size, timeBase: frame.pts?.timeBase ?? source?.timeBase ?? Rational(1, 1_000_000_000),
            frameRate: rate, colorSpace: frame.colorSpace, rotation: frame.rotation,
            sampleAspectRatio: frame.sampleAspectRatio)
    }
}
