import InletCapture
import InletCore
import InletSystem
import Logging
import Synchronization

/// Records a camera on request, one recording at a time. Safe from any thread.
package final class CameraRecorder: Sendable {
    private let media: CameraMedia
    private let registry: PluginRegistry
    private let clock: any CaptureClock
    private let lanes: FileLanes
    private let logger: Logger
    private let report: @Sendable (CameraSetEvent) -> Void
    private let state = Mutex(State())
    /// How long a recording waits, after its end, for a camera that sends nothing.
    private static let grace = Duration.seconds(2)
    /// The maximum number of unfinished recordings, each of which has a thread: the latest one, and earlier ones that
    /// are still writing their files.
    private static let mostUnfinished = 4

    private struct State {
        var active: Active?
        var unfinished = 0
        /// The recordings in the folder of the settings.
        var store: RecordingStore?
    }

    private struct Active {
        var ticket: RecordingTicket
        var job: PacketJob
    }

    init(
        _ media: CameraMedia, registry: PluginRegistry, clock: any CaptureClock, lanes: FileLanes, logger: Logger,
        report: @escaping @Sendable (CameraSetEvent) -> Void
    ) {
        var logger = logger
        logger[metadataKey: "camera"] = "\(media.camera)"
        (self.media, self.registry, self.clock, self.lanes, self.logger) = (media, registry, clock, lanes, logger)
        self.report = { [logger] event in
            if event.kind.hasByteSuffix("failed") { logger.error("\(event.text)") }
            report(event)
        }
    }

    /// The recording that accepts packets; nil if nothing is being recorded.
    var ticket: RecordingTicket? {
        state.withLock { $0.active?.ticket }.flatMap { $0.isClosed ? nil : $0 }
    }

    /// The file of a recording whose write takes too long; nil if no write does.
    var stalled: String? {
        guard let active = state.withLock({ $0.active }), let since = active.job.isBusySince,
            MonotonicTime.now - since >= SinkWatch.limit
        else { return nil }
        return active.ticket.name ?? "recording"
    }

    /// Starts a recording that begins with earlier packets, or extends the current one.
    ///
    /// - Parameters:
    ///   - time: the time from now to the end, limited to ``RecordSettings/longest``; nil for ``RecordSettings/after``.
    ///   - cause: the cause of the request.
    /// - Throws: an error with the reason why nothing can be recorded.
    func record(
        _ settings: RecordSettings, for time: Duration?, cause: String
    ) throws(InletError) -> RecordingTicket {
        let store = try store(settings)
        let end = clock.now + min(time ?? settings.after, settings.longest)
        return try state.withLock { state throws(InletError) in
            if let active = state.active, active.ticket.extend(to: end) { return active.ticket }
            guard state.unfinished < Self.mostUnfinished else {
                throw InletError(
                    .busy,
                    "Earlier recordings are still being written to '\(store.folder.path)'. Check its disk.")
            }
            let ticket = RecordingTicket(camera: media.camera, cause: cause, asked: WallTime.now, end: end)
            let job = try begin(ticket, in: store, settings)
            state.unfinished += 1
            state.active = Active(ticket: ticket, job: job)
            return ticket
        }
    }

    /// Ends the current recording. Returns when its file is complete, or after seven seconds if the disk hangs.
    ///
    /// - Returns: the recording; nil if nothing was being recorded.
    func stop() async -> RecordingTicket? {
        guard let active = state.withLock({ $0.active }) else { return nil }
        active.ticket.close()
        await active.job.end()
        return active.ticket
    }

    /// Returns the recordings of the camera.
    ///
    /// - Throws: an error if the settings have no folder for recordings.
    func store(_ settings: RecordSettings) throws(InletError) -> RecordingStore {
        guard let root = settings.folder else {
            throw InletError(
                .invalidConfiguration,
                "No folder for recordings is configured. Write record: {folder: PATH} for the camera or in defaults:."
            )
        }
        let folder = try RecordingFolder(root, camera: media.camera)
        return state.withLock { state in
            if let store = state.store, store.folder.path.isSameBytes(as: folder.path) { return store }
            let store = lanes.store(of: folder, logger: logger)
            state.store = store
            return store
        }
    }

    /// Starts a recording. Called with the lock held.
    private func begin(
        _ ticket: RecordingTicket, in store: RecordingStore, _ settings: RecordSettings
    ) throws(InletError) -> PacketJob {
        var made: PacketJob?
        media.hub.attach { items in
            let job = PacketJob(items)
            made = job
            return job
        }
        guard let job = made else { throw InletError(.busy, "The camera is being removed.") }
        let (registry, report, camera) = (registry, report, media.camera)
        let watch = watch(ticket, job)
        media.beginUse()
        do throws(InletError) {
            try job.begin(
                named: "inlet-record",
                makeSink: {
                    RecordingWriter(
                        ticket, in: store, settings,
                        makeFile: { name in
                            let made = try registry.sink(store.folder.sinkURI(of: name))
                            guard let packets = made as? any PacketSinkConfiguration else {
                                throw InletError(.internal, "mp4: accepts no packets.")
                            }
                            return packets.makePacketSink()
                        }, report: { report(CameraSetEvent($0, $1, camera: camera)) })
                },
                onEnd: { [weak self] error in
                    watch.cancel()
                    self?.ended(job, ticket, error)
                })
        } catch {
            watch.cancel()
            media.hub.detach(job)
            media.endUse()
            throw error
        }
        return job
    }

    private func ended(_ job: PacketJob, _ ticket: RecordingTicket, _ error: InletError?) {
        ticket.close()
        media.hub.detach(job)
        media.endUse()
        state.withLock { state in
            state.unfinished -= 1
            if state.active?.job === job { state.active = nil }
        }
        if let error {
            report(CameraSetEvent("recording-failed", error.description, camera: media.camera))
        } else if ticket.names.isEmpty {
            report(CameraSetEvent("recording-failed", "The camera sent nothing to record.", camera: media.camera))
        }
    }

    /// Ends a recording when its time is over, even if no packets arrive.
    private func watch(_ ticket: RecordingTicket, _ job: PacketJob) -> Task<Void, Never> {
        Task { [clock] in
            while let left = ticket.close(at: clock.now, after: Self.grace) {
                try? await Task.sleep(for: left)
                if Task.isCancelled { return }
            }
            job.finish()
        }
    }
}
