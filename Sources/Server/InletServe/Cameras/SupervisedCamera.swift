import InletCapture
package import InletCore
package import InletHTTPServer
import InletSystem
package import Logging

/// A camera of a ``CameraSet``: runs its capture, starts it again after it has ended if that is allowed, and changes
/// its sinks while it runs.
///
/// ``CameraSet`` ensures that only one operation runs at a time.
package actor SupervisedCamera {
    /// The resources that cameras share.
    package struct Environment: Sendable {
        package var registry: PluginRegistry
        package var clock: any CaptureClock
        package var logger: Logger
        /// Threads for blocking operations on files.
        package let lanes = FileLanes()
        /// Runs sources in separate processes; nil if that is not possible.
        package var makeProcess: CameraProcess.Maker?

        package init(
            registry: PluginRegistry, clock: any CaptureClock, logger: Logger, makeProcess: CameraProcess.Maker? = nil
        ) {
            (self.registry, self.clock, self.logger) = (registry, clock, logger)
            self.makeProcess = makeProcess
        }
    }

    package private(set) var settings: CameraSettings
    /// The pictures for viewers. They outlive a capture, so that viewers stay connected when the camera is opened
    /// again.
    package nonisolated let view: PictureHub?
    /// The packets for recordings and streams. They also outlive a capture.
    nonisolated let media: CameraMedia
    nonisolated let recorder: CameraRecorder
    let environment: Environment
    /// Finds sinks that accept no data.
    var sinkWatch = SinkWatch()
    let report: @Sendable (CameraSetEvent) -> Void
    var capturer: Capturer?
    /// Runs the source in separate processes, for all captures with the same settings.
    var process: CameraProcess?
    private var runner: Task<Void, Never>?
    private var sinks: [SinkSettings: SinkID] = [:]
    private var viewSink: SinkID?
    private var mediaSink: SinkID?
    /// The sink that sends by WebRTC; nil before the first WebRTC viewer.
    private var webRTCSink: SinkID?
    private var isPaused = false
    /// Whether old recordings are being deleted. If the disk hangs, a second deletion is not started.
    var isRetaining = false
    /// The error that ended the capture or prevented it from starting.
    private var failure: InletError?
    /// Whether the camera stays closed until a user restarts it.
    private var hasEnded = false
    private var history: CameraHistory
    /// The processor time of the camera's threads, over all captures.
    let account = ProcessorAccount()
    /// The processor time of the camera's present process so far, and of its earlier processes.
    var children = (number: Int32?.none, last: Duration.zero, ended: Duration.zero)
    var degradation: Degradation?
    /// Counts captures, to distinguish the end of an earlier capture from that of the present one.
    private var generation = 0

    /// - Parameter view: receives the pictures for viewers; nil if the camera cannot be viewed.
    package init(
        _ settings: CameraSettings, view: PictureHub?, environment: Environment,
        report: @escaping @Sendable (CameraSetEvent) -> Void
    ) {
        (self.settings, self.view, self.environment, self.report) = (settings, view, environment, report)
        history = CameraHistory(
            from: .init(
                time: environment.clock.now, wallTime: WallTime.now, captured: 0, dropped: 0, phase: .idle))
        media = CameraMedia(camera: settings.name, settings.policies.record)
        recorder = CameraRecorder(
            media, registry: environment.registry, clock: environment.clock, lanes: environment.lanes,
            logger: environment.logger, report: report)
    }

    // MARK: Running

    /// Starts the capture after a delay. Returns immediately.
    package func start(after delay: Duration = .zero) {
        guard runner == nil else { return }
        generation += 1
        hasEnded = false
        let generation = generation
        runner = Task { await self.run(generation, after: delay) }
    }

    /// Ends the capture. Returns when the source is closed and every sink has finished or been abandoned.
    package func stop() async {
        generation += 1
        runner?.cancel()
        capturer?.stop()
        await runner?.value
        runner = nil
        capturer = nil
        (sinks, viewSink, mediaSink, webRTCSink) = ([:], nil, nil, nil)
    }

    /// Closes the camera and opens it again, with new settings if given.
    package func restart(_ settings: CameraSettings? = nil) async {
        await stop()
        if let settings {
            self.settings = settings
            process = nil
            media.apply(settings.policies.record)
            // The new settings may allow other steps.
            if let degradation { degrade(to: degradation.level, because: degradation.why) }
        }
        failure = nil
        start()
    }

    /// Ends the capture permanently, and all viewers.
    package func remove() async {
        await stop()
        view?.end()
        _ = await recorder.stop()
        await media.hub.end()
    }

    private func run(_ generation: Int, after delay: Duration) async {
        await repeatRuns(generation, after: delay)
        if self.generation == generation { hasEnded = true }
    }

    private func repeatRuns(_ generation: Int, after delay: Duration) async {
        var ends = 0
        var delay = delay
        while true {
            if delay > .zero { try? await Task.sleep(for: delay) }
            guard !Task.isCancelled, self.generation == generation else { return }
            let (error, wasLong) = await runOnce()
            guard !Task.isCancelled, self.generation == generation else { return }
            failure = error
            ends = wasLong ? 1 : ends + 1
            guard
                let next = RestartDecision.delay(after: error, retry: settings.policies.retry, ends: ends)
            else { return }
            delay = next
        }
    }

    /// Runs one capture to its end.
    ///
    /// - Returns: the error if the capture failed, and whether it had worked for a while.
    private func runOnce() async -> (InletError?, Bool) {
        let startedGeneration = generation
        let capturer: Capturer
        do {
            let source = try await makeSource()
            let sinks = await makeSinks()
            guard generation == startedGeneration else { return (nil, false) }
            capturer = makeCapturer(source, sinks)
        } catch {
            guard generation == startedGeneration else { return (nil, false) }
            let error = InletError(wrapping: error, operation: "opening")
            report(CameraSetEvent("failed", error.description, camera: settings.name))
            return (error, false)
        }
        self.capturer = capturer
        let (events, name, report, media) = (capturer.events, settings.name, report, media)
        let reporter = Task {
            for await event in events {
                if case .opened(let format) = event {
                    media.sourceOpened(format)
                    // The error belongs to an earlier capture.
                    self.failure = nil
                }
                if let event = CameraSetEvent(event, camera: name) { report(event) }
            }
        }
        if isPaused { capturer.pause() }
        var failure: InletError?
        do throws(InletError) {
            try await capturer.run()
        } catch {
            failure = error
        }
        await reporter.value
        return (failure, capturer.statistics.captured > 250)
    }

    private func makeCapturer(
        _ source: any FrameSourceConfiguration, _ made: [SinkSettings: any FrameSinkConfiguration]
    ) -> Capturer {
        var configuration = CapturerConfiguration()
        configuration.filters = environment.registry.filters
        let policies = settings.policies
        configuration.retry = policies.retry
        if let timeout = policies.timeout {
            configuration.timeouts.open = timeout
            configuration.timeouts.firstFrame = timeout
            configuration.timeouts.nextFrame = timeout
            configuration.timeouts.stall = min(configuration.timeouts.stall, timeout)
        }
        configuration.timeouts.giveUp = policies.giveUp
        configuration.outage.picture = policies.outage
        configuration.closesUnwatchedAfter = policies.closesUnwatchedAfter
        configuration.account = account
        configuration.logger = environment.logger
        configuration.logger[metadataKey: "camera"] = "\(settings.name)"
        let capturer = Capturer(source, configuration: configuration, clock: environment.clock)
        (sinks, viewSink, mediaSink, webRTCSink) = ([:], nil, nil, nil)
        for sink in settings.sinks { attach(sink, made[sink], to: capturer) }
        attachView(to: capturer)
        if media.isNeeded { attachMedia(to: capturer) }
        capturer.reduce(to: reduction)
        sinkWatch.reset()
        return capturer
    }

    /// Returns the configuration of the source, in the process of the settings.
    private func makeSource() async throws -> any FrameSourceConfiguration {
        let (registry, uri) = (environment.registry, settings.source)
        // Options may name files of secrets.
        let source =
            FileLanes.mayWait(for: uri)
            ? try await environment.lanes.secrets.run { _ in Result { try registry.source(uri) } }.get()
            : try registry.source(uri)
        guard case .own(let memoryLimit) = settings.policies.process else { return source }
        if let process { return process.configuration }
        guard let make = environment.makeProcess else {
            throw InletError(
                .unsupported, "This program does not run cameras in separate processes. Remove 'process: own'.")
        }
        let process = make(
            CameraProcess.Request(
                camera: settings.name, uri: settings.source, redactedURI: source.redactedURI,
                memoryLimit: memoryLimit))
        self.process = process
        return process.configuration
    }

    // MARK: Sinks

    /// Changes the sinks and the pictures for viewers, while the source and all other sinks continue.
    package func adjust(_ settings: CameraSettings, detach: [SinkSettings], attach: [SinkSettings]) async {
        let hasOtherView = settings.policies.view != self.settings.policies.view
        self.settings = settings
        media.apply(settings.policies.record)
        guard let capturer else { return }
        // Old sinks are detached first, because a new one may write to the same file.
        for sink in detach {
            guard let id = sinks.removeValue(forKey: sink) else { continue }
            await self.detach(id, from: capturer)
        }
        if hasOtherView, let id = viewSink {
            viewSink = nil
            await self.detach(id, from: capturer)
        }
        let made = await makeSinks(except: Set(sinks.keys))
        guard self.capturer === capturer else { return }
        for sink in attach where sinks[sink] == nil { self.attach(sink, made[sink], to: capturer) }
        if viewSink == nil { attachView(to: capturer) }
        if media.isNeeded { attachMedia(to: capturer) }
        // The new settings may allow other steps.
        if let degradation { degrade(to: degradation.level, because: degradation.why) }
    }

    private func detach(_ id: SinkID, from capturer: Capturer) async {
        do throws(InletError) {
            try await capturer.detach(id)
        } catch {
            report(CameraSetEvent("sink-failed", error.description, camera: settings.name))
        }
    }

    /// Returns the configurations of the sinks in the settings. Invalid ones are omitted and reported.
    ///
    /// - Parameter others: sinks for which no configuration is needed.
    private func makeSinks(except others: Set<SinkSettings> = []) async -> [SinkSettings: any FrameSinkConfiguration] {
        var made: [SinkSettings: any FrameSinkConfiguration] = [:]
        var seen = others
        let registry = environment.registry
        // The settings may change in the meantime.
        while let sink = settings.sinks.first(where: { seen.insert($0).inserted }) {
            do {
                made[sink] =
                    FileLanes.mayWait(for: sink.uri)
                    ? try await environment.lanes.secrets.run { _ in Result { try registry.sink(sink.uri) } }.get()
                    : try registry.sink(sink.uri)
            } catch {
                // The URI was valid when the configuration was read, but a file of a secret may have been removed
                // since.
                let error = InletError(wrapping: error, operation: "attaching")
                report(CameraSetEvent("sink-failed", error.description, camera: settings.name))
            }
        }
        return made
    }

    private func attach(_ sink: SinkSettings, _ configuration: (any FrameSinkConfiguration)?, to capturer: Capturer) {
        guard let configuration else { return }
        sinks[sink] = capturer.attach(configuration, queue: sink.queue, onFailure: sink.onFailure)
    }

    private func attachView(to capturer: Capturer) {
        guard let view else { return }
        viewSink = capturer.attach(ViewSink(settings.policies.view, hub: view), named: "view", queue: .latest)
    }

    private func attachMedia(to capturer: Capturer) {
        guard mediaSink == nil else { return }
        mediaSink = capturer.attach(MediaSink(media), named: "media", queue: .latest)
    }

    // MARK: Recordings and streams

    /// Starts to take the camera's packets for recordings and streams, unless that has already been done.
    ///
    /// - Parameter isTrial: whether to check only if there are packets.
    /// - Throws: an error with the reason why there are no packets.
    func needPackets(isTrial: Bool = false) throws(InletError) {
        try checkRunning()
        if media.hasPackets == false {
            throw InletError(
                .unsupported,
                "The camera's source delivers pictures, and no packets that could be passed on. Record it with a sink "
                    + "such as mp4:, which encodes, and watch it by stream.mjpeg."
            )
        }
        guard !isTrial else { return }
        media.need()
        if let capturer { attachMedia(to: capturer) }
    }

    /// Throws the reason why the camera has no frames, if a person has to change something.
    private func checkRunning() throws(InletError) {
        if isPaused { throw InletError(.busy, "The camera is paused.") }
        guard runner != nil, !hasEnded else {
            throw InletError(
                .busy, "The camera is not running: \(failure?.description ?? "its source has ended").")
        }
    }

    /// Attaches the sink that sends the camera by WebRTC, unless it is attached. The sink stays until the capture ends,
    /// and takes no data while it has no viewers.
    ///
    /// - Throws: an error with the reason why there are no pictures.
    func attachWebRTC(_ configuration: any FrameSinkConfiguration) throws(InletError) {
        try checkRunning()
        guard let capturer else { throw InletError(.busy, "The camera is being opened. Try again.") }
        if let webRTCSink, capturer.statistics.sinks.contains(where: { $0.id == webRTCSink && $0.isAttached }) {
            return
        }
        webRTCSink = capturer.attach(configuration.makeSink(), named: "webrtc", queue: .latest)
    }

    // MARK: Control

    /// Stops the frames until ``resume()``, even across restarts.
    package func pause() {
        isPaused = true
        capturer?.pause()
    }

    /// Ends a pause.
    package func resume() {
        isPaused = false
        capturer?.resume()
    }

    /// The camera's current status.
    package var status: CameraStatus {
        CameraStatus(
            settings: settings, statistics: capturer?.statistics, failure: failure, isPaused: isPaused,
            isRunning: runner != nil && !hasEnded, isRecording: recorder.ticket != nil,
            stalledSinks: sinkWatch.stalled(of: capturer?.statistics.sinks ?? []), degradation: degradation,
            processorTime: account.time + childTime, process: process?.figures())
    }

    /// Ends a sample of the history.
    func closeHistory() { history.close(at: reading) }

    /// The samples of the last hour, the oldest first.
    var recentHistory: [CameraHistory.Sample] { history.samples(until: reading) }

    private var reading: CameraHistory.Reading {
        let status = status
        return .init(
            time: environment.clock.now, wallTime: WallTime.now, captured: status.statistics?.captured ?? 0,
            dropped: status.dropped, phase: status.phase)
    }
}
