import InletConvert
public import InletCore
import Logging
import Synchronization

/// The bridge between one source and any number of sinks.
///
///     let capturer = Capturer(try PluginRegistry.standard.source("v4l2:/dev/video0"))
///     try await capturer.run { frames in
///         for try await frame in frames { print(frame.timestamp, frame.size) }
///     }
///
/// It owns the source's thread, the clock, the queues and the conversion. A capturer runs once. Safe from any thread.
public final class Capturer: Sendable {
    /// The source by its URI, without credentials.
    public let sourceName: String
    private let configuration: CapturerConfiguration
    let clock: any CaptureClock
    private let counters: SessionCounters
    private let converter = FrameConverter()
    private let pool: I420BufferPool
    private let log: CaptureLog
    private let broadcaster: EventBroadcaster
    private let supervisor: Supervisor
    private let shared: SharedState
    /// Resolves with the first ``stop()``.
    private let stopRequest = Completion<Void>()

    /// What the application's threads, the sinks' queues and the capture thread share.
    private final class SharedState: Sendable {
        let state = Mutex(Shared())
        func withLock<R>(_ body: (inout Shared) -> sending R) -> sending R { state.withLock { body(&$0) } }
    }

    private struct Shared {
        var isStarted = false
        /// How the source ended, once it has: receivers that come later end at once.
        var result: Result<EndReason, InletError>?
        var receivers: [any SinkReceiver] = []
        /// Receivers that take no more frames, for the statistics; bounded by ``Capturer/rememberedSinks``.
        var pastSinks: [PastSink] = []
        var sinkNumber = 0
    }

    /// A sink that has ended. Its counters may still move: frames that wait in a sequence are taken after the run.
    private struct PastSink {
        var id: SinkID
        var name: String
        var counters: SinkCounters
    }

    /// How many sinks that have ended statistics still show, so that attaching and detaching for days takes no memory.
    static let rememberedSinks = 64

    /// Makes a capturer. Opens nothing.
    ///
    /// - Parameters:
    ///   - source: makes the source, and makes it anew after a failure.
    ///   - configuration: time-outs, retries and limits.
    ///   - clock: the default is the machine's.
    public init(
        _ source: any FrameSourceConfiguration, configuration: CapturerConfiguration = CapturerConfiguration(),
        clock: any CaptureClock = SystemClock()
    ) {
        self.configuration = configuration
        self.clock = clock
        sourceName = source.redactedURI
        pool = I420BufferPool(capacity: configuration.poolCapacity)
        let (counters, shared, broadcaster) = (SessionCounters(), SharedState(), EventBroadcaster())
        let eventLog = SupervisionLog(logger: configuration.logger, source: source.redactedURI)
        let dispatcher = FrameDispatcher(
            clock: clock, counters: counters,
            limits: .init(frames: configuration.frameLimit, duration: configuration.durationLimit),
            keepsLastFrame: configuration.outage.picture == .hold || configuration.disabledPicture == .hold,
            receivers: { shared.withLock { $0.receivers } })
        supervisor = Supervisor(
            source: source, configuration: configuration, clock: clock, counters: counters, dispatcher: dispatcher,
            onEvent: { event in
                // The end is told when the sinks have finished, too.
                if case .stateChanged(.ended) = event { return }
                eventLog.write(event)
                broadcaster.send(event)
                if case .stateChanged(let state) = event, let condition = state.condition {
                    for receiver in shared.withLock({ $0.receivers }) {
                        (receiver as? any ConditionReceiver)?.sourceChanged(to: condition)
                    }
                }
            })
        (self.counters, self.shared, self.broadcaster) = (counters, shared, broadcaster)
        log = CaptureLog(configuration.logger, source: sourceName, clock: clock)
    }

    /// What the capturer does now. It has ended when every sink has finished; until then it is what it was before.
    public var state: CapturerState { broadcaster.capturerState }

    /// What happens from now on. Each call makes a sequence of its own; it ends with the run.
    public var events: AsyncStream<CapturerEvent> { broadcaster.listen() }

    /// What happened so far.
    public var statistics: CaptureStatistics {
        let (now, state) = (clock.now, state)
        var statistics = counters.statistics(at: now)
        statistics.time = now
        statistics.source = sourceName
        (statistics.phase, statistics.stateDescription) = (state.phase, state.description)
        statistics.supervision = supervisor.figures
        let (past, present) = shared.withLock { ($0.pastSinks, $0.receivers) }
        statistics.sinks =
            past.map { $0.counters.snapshot(id: $0.id, name: $0.name) }
            + present.map { $0.counters.snapshot(id: $0.id, name: $0.name) }
        statistics.sinks.sort { $0.id.number < $1.id.number }
        return statistics
    }

    // MARK: Sinks

    /// Attaches a sink, before the run or while it lasts. It gets the frames from the next one on.
    ///
    /// - Parameters:
    ///   - sink: given up to the capturer: every method is called on a thread of the sink's own.
    ///   - name: what statistics, events and errors call it.
    ///   - queue: what happens when the sink is slower than the source. The default is by the source: see
    ///     ``QueuePolicy``.
    ///   - wants: what frames shall be like. The default is what the sink itself wants, which may change while it runs.
    @discardableResult
    public func attach(
        _ sink: sending any FrameSink, named name: String? = nil, queue: QueuePolicy? = nil, wants: SinkWants? = nil
    ) -> SinkID {
        attach(sink, named: name, queue: queue, wants: wants, restart: nil)
    }

    /// Attaches the sink that a configuration makes, under the configuration's name.
    ///
    /// Where it is a ``PacketSinkConfiguration``, the sink gets the source's packets, which are not decoded for it; its
    /// queue is of packets, of which a live source drops those up to a key frame where the sink is too slow, and for
    /// which another source waits.
    ///
    /// - Parameters:
    ///   - configuration: makes the sink.
    ///   - queue: as for ``attach(_:named:queue:wants:)``.
    ///   - wants: as for ``attach(_:named:queue:wants:)``.
    ///   - onFailure: what happens when the sink throws. The default is ``SinkFailurePolicy/detach``.
    @discardableResult
    public func attach(
        _ configuration: any FrameSinkConfiguration, queue: QueuePolicy? = nil, wants: SinkWants? = nil,
        onFailure: SinkFailurePolicy = .detach
    ) -> SinkID {
        if let packets = configuration as? any PacketSinkConfiguration {
            let id = nextSinkID()
            add(PacketDelivery(id: id, packets, onFailure: onFailure, context: deliveryContext()))
            return id
        }
        var restart: SinkDelivery.Restart?
        if case .restart(let delay) = onFailure { restart = .init(configuration: configuration, delay: delay) }
        return attach(
            configuration.makeSink(), named: configuration.redactedURI, queue: queue, wants: wants, restart: restart)
    }

    private func attach(
        _ sink: sending any FrameSink, named name: String?, queue: QueuePolicy?, wants: SinkWants?,
        restart: SinkDelivery.Restart?
    ) -> SinkID {
        let id = nextSinkID()
        let delivery = SinkDelivery(
            id: id, name: name ?? id.description, sink: sink, wants: wants, policy: queue, restart: restart,
            context: deliveryContext())
        add(delivery)
        return id
    }

    /// Detaches a sink: what waits for it is dropped and counted, and it finishes. Returns when it has, or at once
    /// where it is not attached.
    ///
    /// - Throws: ``InletError/Code/timedOut`` where the sink did not finish within
    ///   ``CapturerConfiguration/stopTimeout``. It gets no more frames and is detached when it does.
    public func detach(_ id: SinkID) async throws(InletError) {
        guard let receiver = shared.withLock({ $0.receivers.first { $0.id == id } }) else { return }
        receiver.close()
        let unfinished = await SinkDeadline.wait(
            for: [receiver], stopTimeout: configuration.stopTimeout, stop: .resolved(()), clock: clock)
        if let unfinished { throw unfinished }
    }

    /// The frames as an `AsyncSequence` for one consumer. Something must run the capturer meanwhile; see
    /// ``run(queue:wants:_:)``.
    ///
    /// - Parameters:
    ///   - queue: the default is by the source, as for ``attach(_:named:queue:wants:)``: a file waits for the consumer,
    ///     which gets every frame;
    ///     a live source does not, and the consumer gets the newest.
    ///   - wants: what frames shall be like. The default is as they come.
    public func frames(queue: QueuePolicy? = nil, wants: SinkWants = SinkWants()) -> FrameSequence {
        let delivery = SequenceDelivery(
            id: nextSinkID(), wants: wants, policy: queue, context: deliveryContext())
        add(delivery)
        return FrameSequence(delivery)
    }

    private func nextSinkID() -> SinkID {
        shared.withLock {
            $0.sinkNumber += 1
            return SinkID(number: $0.sinkNumber)
        }
    }

    private func deliveryContext() -> DeliveryContext {
        let conversion = ConversionContext(
            converter: converter, pool: pool, scalingPool: I420BufferPool(capacity: configuration.poolCapacity),
            countConversion: { [counters] in counters.converted.add(1, ordering: .relaxed) })
        let observer = DeliveryObserver(source: sourceName, tracer: configuration.tracer, log: log)
        return DeliveryContext(
            clock: clock, conversion: conversion,
            report: { [weak self] receiver, event in
                switch event {
                case .ended(let error): self?.ended(receiver, error)
                case .restarting(let error, let attempt, let delay):
                    self?.tell(
                        .sinkRestarting(receiver.id, name: receiver.name, error, attempt: attempt, delay: delay))
                }
            },
            sinkContext: SinkContext { [weak self] in self?.statistics ?? .afterTheEnd }, observer: observer,
            wantsChanged: { [weak self] in self?.supervisor.receiversChanged() })
    }

    private func add(_ receiver: any SinkReceiver) {
        let result = shared.withLock { shared -> Result<EndReason, InletError>? in
            shared.receivers.append(receiver)
            return shared.result
        }
        if let condition = state.condition { (receiver as? any ConditionReceiver)?.sourceChanged(to: condition) }
        if let result { Self.finish(receiver, after: result) } else { supervisor.receiversChanged() }
    }

    private func tell(_ event: CapturerEvent) {
        SupervisionLog(logger: configuration.logger, source: sourceName).write(event)
        broadcaster.send(event)
    }

    private func ended(_ receiver: any SinkReceiver, _ error: InletError?) {
        // Told before it is taken off the list: the run waits for those on it before it ends the events.
        tell(.sinkEnded(receiver.id, name: receiver.name, error))
        let isLast = shared.withLock { shared in
            shared.receivers.removeAll { $0 === receiver }
            shared.pastSinks.append(PastSink(id: receiver.id, name: receiver.name, counters: receiver.counters))
            if shared.pastSinks.count > Self.rememberedSinks { shared.pastSinks.removeFirst() }
            return shared.receivers.isEmpty
        }
        supervisor.receiversChanged()
        if isLast, configuration.endsWithoutSinks { supervisor.post(.stop(.noSinks)) }
    }

    // MARK: Running

    /// Opens the source and delivers its frames until it ends, fails or is stopped. When this returns, the source is
    /// closed, its thread is gone, and every sink is finished.
    ///
    /// Cancelling the task is the same as ``stop()``.
    ///
    /// - Throws: what the source failed with, after the sinks have finished; ``InletError/Code/timedOut`` where the
    ///   source or a sink did not stop within ``CapturerConfiguration/stopTimeout``;
    ///   ``InletError/Code/invalidConfiguration`` where the capturer ran before. A sink that fails is no reason to
    ///   throw: see ``CapturerEvent/sinkEnded(_:name:_:)``.
    @discardableResult
    public func run() async throws(InletError) -> EndReason {
        try claimRun()
        return try await runOnce()
    }

    private func claimRun() throws(InletError) {
        let isFirst = shared.withLock { shared in
            defer { shared.isStarted = true }
            return !shared.isStarted
        }
        guard isFirst else {
            throw InletError(
                .invalidConfiguration, "A capturer runs once. Make a new one to open the source again.",
                context: .init(subject: sourceName))
        }
    }

    private func runOnce() async throws(InletError) -> EndReason {
        supervisor.post(.start)
        let (result, unfinished) = await withTaskCancellationHandler {
            let result = await supervisor.completion.value()
            return (result, await finishSinks(after: result))
        } onCancel: {
            stop()
        }
        pool.purge()
        log.flush()
        let reason = try? result.get()
        tell(.stateChanged(.ended(reason)))
        broadcaster.finish()
        if let unfinished, reason != nil { throw unfinished }
        return try result.get()
    }

    /// Runs the capturer for as long as `body` takes frames, and stops it afterwards.
    ///
    /// - Parameters:
    ///   - queue: as for ``frames(queue:wants:)``.
    ///   - wants: as for ``frames(queue:wants:)``.
    ///   - body: takes the frames.
    /// - Throws: what `body` throws, or what the run failed with.
    nonisolated(nonsending) public func run<Value>(
        queue: QueuePolicy? = nil, wants: SinkWants = SinkWants(),
        _ body: nonisolated(nonsending) (FrameSequence) async throws -> Value
    ) async throws -> Value {
        try claimRun()
        let frames = frames(queue: queue, wants: wants)
        async let outcome = runOnce()
        do {
            let value = try await body(frames)
            stop()
            _ = try await outcome
            return value
        } catch {
            stop()
            _ = try? await outcome
            throw error
        }
    }

    // MARK: Control

    /// Asks the run to end. Returns at once; ``run()`` returns when all is closed.
    public func stop() {
        stopRequest.resolve(())
        supervisor.post(.stop(.cancelled))
    }

    /// Stops the frames until ``resume()``: for an application in the background, or a call on hold. Returns at once.
    ///
    /// A source that can pause stays open and costs next to nothing; another is closed. A pause before the run
    /// begins it paused.
    public func pause() { supervisor.post(.pause) }

    /// Ends a pause.
    public func resume() { supervisor.post(.resume) }

    /// Keeps frames from the sinks while the source goes on, as for a muted camera: they come back at once. Returns at
    /// once.
    ///
    /// Sinks get ``CapturerConfiguration/disabledPicture`` meanwhile.
    public func setEnabled(_ isEnabled: Bool) { supervisor.post(.setEnabled(isEnabled)) }

    /// Lets every sink finish: with what waits for it at the end of the stream, without after a stop.
    ///
    /// - Returns: an error that names a sink that did not finish in time after a stop.
    private func finishSinks(after result: Result<EndReason, InletError>) async -> InletError? {
        let receivers = shared.withLock { shared in
            shared.result = result
            return shared.receivers
        }
        for receiver in receivers { Self.finish(receiver, after: result) }
        return await SinkDeadline.wait(
            for: receivers, stopTimeout: configuration.stopTimeout,
            stop: result.isStop ? .resolved(()) : stopRequest, clock: clock)
    }

    private static func finish(_ receiver: any SinkReceiver, after result: Result<EndReason, InletError>) {
        switch result {
        case .success where result.isStop: receiver.close()
        case .success: receiver.finish(nil)
        case .failure(let error): receiver.finish(error)
        }
    }
}

extension CaptureStatistics {
    /// What is left to say when the capturer is gone.
    fileprivate static var afterTheEnd: CaptureStatistics {
        var statistics = CaptureStatistics()
        (statistics.phase, statistics.stateDescription) = (.ended, "ended")
        return statistics
    }
}

extension Result<EndReason, InletError> {
    /// Whether the run was ended from outside, so that what waits is not worth delivering.
    fileprivate var isStop: Bool {
        if case .success(let reason) = self { reason == .cancelled || reason == .noSinks } else { false }
    }
}
