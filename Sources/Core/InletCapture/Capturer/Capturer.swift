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
    /// The source's URI, without credentials.
    public let sourceName: String
    private let configuration: CapturerConfiguration
    let clock: any CaptureClock
    private let counters: SessionCounters
    private let converter = FrameConverter()
    private let filtering: PictureFiltering
    private let pool: I420BufferPool
    private let log: CaptureLog
    private let broadcaster: EventBroadcaster
    private let supervisor: Supervisor
    private let shared: SharedState
    /// Resolves at the first call of ``stop()``.
    private let stopRequest = Completion<Void>()

    /// State shared by the application's threads, the sinks' queues and the capture thread.
    private final class SharedState: Sendable {
        let state = Mutex(Shared())
        func withLock<R>(_ body: (inout Shared) -> sending R) -> sending R { state.withLock { body(&$0) } }
    }

    private struct Shared {
        var isStarted = false
        /// The end of the source, once it has ended: receivers attached later end at once.
        var result: Result<EndReason, InletError>?
        var receivers: [any SinkReceiver] = []
        /// Receivers that no longer take frames, for the statistics.
        var pastSinks = PastSinks()
        var sinkNumber = 0
        var reduction = PictureReduction()
    }

    /// Makes a capturer. Opens nothing.
    ///
    /// - Parameters:
    ///   - source: makes the source, and makes another after a failure.
    ///   - configuration: time-outs, retries and limits.
    ///   - clock: measures time. The default is the machine's clock.
    public init(
        _ source: any FrameSourceConfiguration, configuration: CapturerConfiguration = CapturerConfiguration(),
        clock: any CaptureClock = SystemClock()
    ) {
        self.configuration = configuration
        self.clock = clock
        sourceName = source.redactedURI
        pool = I420BufferPool(capacity: configuration.poolCapacity)
        filtering = PictureFiltering(
            configuration.filters, source: source.redactedURI, logger: configuration.logger)
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
                // The end is reported only when the sinks have finished, too.
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

    /// The capturer's current state. It becomes ``CapturerState/ended(_:)`` when every sink has finished, and stays
    /// what it was until then.
    public var state: CapturerState { broadcaster.capturerState }

    /// Events from now on. Each call makes a separate sequence, which ends with the run.
    public var events: AsyncStream<CapturerEvent> { broadcaster.listen() }

    /// Statistics of the run so far.
    public var statistics: CaptureStatistics {
        let (now, state) = (clock.now, state)
        var statistics = counters.statistics(at: now)
        statistics.time = now
        statistics.source = sourceName
        (statistics.phase, statistics.stateDescription) = (state.phase, state.description)
        statistics.supervision = supervisor.figures
        let (past, present) = shared.withLock { ($0.pastSinks, $0.receivers) }
        statistics.sinks =
            past.figures + present.map { $0.counters.snapshot(id: $0.id, name: $0.name) }
        statistics.sinks.sort { $0.id.number < $1.id.number }
        statistics.earlierSinks = past.sums
        return statistics
    }

    // MARK: Sinks

    /// Attaches a sink, before or during the run. It gets frames from the next one on.
    ///
    /// - Parameters:
    ///   - sink: owned by the capturer from now on: every method is called on the sink's own thread.
    ///   - name: what statistics, events and errors call it.
    ///   - queue: what happens when the sink is slower than the source. The default depends on the source: see
    ///     ``QueuePolicy``.
    ///   - wants: what frames should be like. The default is the sink's own wants, which may change while it runs.
    @discardableResult
    public func attach(
        _ sink: sending any FrameSink, named name: String? = nil, queue: QueuePolicy? = nil, wants: SinkWants? = nil
    ) -> SinkID {
        attach(sink, named: name, queue: queue, wants: wants, restart: nil)
    }

    /// Attaches the sink that a configuration makes, under the configuration's name.
    ///
    /// If it is a ``PacketSinkConfiguration``, the sink gets the source's packets, which are not decoded for it. Its
    /// queue holds packets: if the sink is too slow, a live source drops them up to a key frame, and any other source
    /// waits.
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

    /// Detaches a sink: frames queued for it are dropped and counted, and it finishes. Returns when it has finished, or
    /// at once if it is not attached.
    ///
    /// - Throws: ``InletError/Code/timedOut`` if the sink did not finish within ``CapturerConfiguration/stopTimeout``.
    ///   It gets no more frames and is detached when it does.
    public func detach(_ id: SinkID) async throws(InletError) {
        guard let receiver = shared.withLock({ $0.receivers.first { $0.id == id } }) else { return }
        receiver.close()
        let unfinished = await SinkDeadline.wait(
            for: [receiver], stopTimeout: configuration.stopTimeout, stop: .resolved(()), clock: clock)
        if let unfinished { throw unfinished }
    }

    /// Returns the frames as an `AsyncSequence` for one consumer. Something must run the capturer meanwhile; see
    /// ``run(queue:wants:_:)``.
    ///
    /// - Parameters:
    ///   - queue: the default depends on the source, as for ``attach(_:named:queue:wants:)``: a file waits for the
    ///     consumer, which gets every frame; a live source does not, and the consumer gets the newest.
    ///   - wants: what frames should be like. The default leaves them as they arrive.
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
            filtering: filtering, countConversion: { [counters] in counters.converted.add(1, ordering: .relaxed) })
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
            wantsChanged: { [weak self] in self?.supervisor.receiversChanged() },
            watchersChanged: { [weak self] in self?.supervisor.watchersChanged() },
            requestKeyFrame: { [weak self] in self?.supervisor.requestKeyFrame() }, account: configuration.account)
    }

    private func add(_ receiver: any SinkReceiver) {
        let (result, reduction) = shared.withLock { shared -> (Result<EndReason, InletError>?, PictureReduction) in
            shared.receivers.append(receiver)
            return (shared.result, shared.reduction)
        }
        (receiver as? any FrameReceiver)?.reduce(to: reduction)
        if let condition = state.condition { (receiver as? any ConditionReceiver)?.sourceChanged(to: condition) }
        if let result { Self.finish(receiver, after: result) } else { supervisor.receiversChanged() }
    }

    private func tell(_ event: CapturerEvent) {
        SupervisionLog(logger: configuration.logger, source: sourceName).write(event)
        broadcaster.send(event)
    }

    private func ended(_ receiver: any SinkReceiver, _ error: InletError?) {
        // Reported before it is taken off the list: the run waits for those on it before it ends the events.
        tell(.sinkEnded(receiver.id, name: receiver.name, error))
        let isLast = shared.withLock { shared in
            shared.receivers.removeAll { $0 === receiver }
            shared.pastSinks.add(receiver.id, receiver.name, receiver.counters)
            return shared.receivers.isEmpty
        }
        supervisor.receiversChanged()
        if isLast, configuration.endsWithoutSinks { supervisor.post(.stop(.noSinks)) }
    }

    // MARK: Running

    /// Opens the source and delivers its frames until it ends, fails or is stopped. When this returns, the source is
    /// closed, its thread has ended, and every sink has finished.
    ///
    /// Cancelling the task is the same as ``stop()``.
    ///
    /// - Throws: the error that the source failed with, after the sinks have finished; ``InletError/Code/timedOut`` if
    ///   the source or a sink did not stop within ``CapturerConfiguration/stopTimeout``;
    ///   ``InletError/Code/invalidConfiguration`` if the capturer has run before. A sink that fails does not make it
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

    /// Runs the capturer while `body` takes frames, and stops it afterwards.
    ///
    /// - Parameters:
    ///   - queue: as for ``frames(queue:wants:)``.
    ///   - wants: as for ``frames(queue:wants:)``.
    ///   - body: takes the frames.
    /// - Throws: the error of `body`, or the error with which the run failed.
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

    /// Asks the run to end. Returns at once; ``run()`` returns when everything is closed.
    public func stop() {
        stopRequest.resolve(())
        supervisor.post(.stop(.cancelled))
    }

    /// Stops the frames until ``resume()``: for an application in the background, or a call on hold. Returns at once.
    ///
    /// A source that can pause stays open at almost no cost; any other is closed. If called before the run, the run
    /// begins paused.
    public func pause() { supervisor.post(.pause) }

    /// Ends a pause.
    public func resume() { supervisor.post(.resume) }

    /// Keeps frames from the sinks while the source keeps running, as for a muted camera: when enabled again,
    /// frames resume immediately. Returns at once.
    ///
    /// Sinks get ``CapturerConfiguration/disabledPicture`` meanwhile.
    public func setEnabled(_ isEnabled: Bool) { supervisor.post(.setEnabled(isEnabled)) }

    /// Reduces the pictures that sinks get, from the next one on, and what is decoded for them. Returns at once.
    package func reduce(to reduction: PictureReduction) {
        let rate = counters.statistics(at: clock.now).recentFrameRate
        let measured = shared.withLock { shared in
            var measured = reduction
            measured.measure(rate, after: shared.reduction)
            shared.reduction = measured
            return measured
        }
        supervisor.reduce(to: measured)
    }

    /// Whether any sink takes pictures at present, so that a reduction may save something.
    package var hasPictureWork: Bool { supervisor.hasPictureWork }

    /// Lets every sink finish: at the end of the stream with the frames queued for it, after a stop without them.
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
    /// Statistics of a capturer that no longer exists.
    fileprivate static var afterTheEnd: CaptureStatistics {
        var statistics = CaptureStatistics()
        (statistics.phase, statistics.stateDescription) = (.ended, "ended")
        return statistics
    }
}
