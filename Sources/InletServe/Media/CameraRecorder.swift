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
    private let report: @Sendable (FleetEvent) -> Void
    private let current = Mutex<Active?>(nil)
    /// How long after its end a recording waits for a camera that gives nothing.
    private static let grace = Duration.seconds(2)

    private struct Active {
        var ticket: RecordingTicket
        var job: PacketJob
        /// Ends it although no packets come.
        var watch: Task<Void, Never>
        var ended: Completion<Void>
    }

    init(
        _ media: CameraMedia, registry: PluginRegistry, clock: any CaptureClock, logger: Logger,
        report: @escaping @Sendable (FleetEvent) -> Void
    ) {
        (self.media, self.registry, self.clock) = (media, registry, clock)
        self.report = { event in
            if event.kind.hasByteSuffix("failed") {
                logger.error("\(event.text)", metadata: ["camera": "\(event.camera ?? "")"])
            }
            report(event)
        }
    }

    /// The recording that is under way; nil if there is none.
    var ticket: RecordingTicket? { current.withLock { $0?.ticket } }

    /// Begins a recording with the packets from before, or makes the one that is under way longer.
    ///
    /// - Parameters:
    ///   - seconds: how long it goes on from now; nil for what the settings say.
    ///   - cause: what asks for it.
    /// - Throws: an error that says why nothing can be recorded.
    func record(
        _ settings: RecordSettings, for time: Duration?, cause: String
    ) throws(InletError) -> RecordingTicket {
        let folder = try Self.folder(settings, camera: media.camera)
        let now = clock.now
        let end = now + (time ?? settings.after)
        return try current.withLock { current throws(InletError) in
            if let active = current, active.ticket.end > now {
                active.ticket.extend(to: end)
                return active.ticket
            }
            // One that has just ended writes its last packets.
            current?.watch.cancel()
            let ticket = RecordingTicket(
                camera: media.camera, cause: cause, asked: WallTime.now, end: end, latest: now + settings.longest)
            let (job, ended) = try begin(ticket, in: folder, keptSize: settings.keptSize)
            current = Active(ticket: ticket, job: job, watch: watch(ticket, job), ended: ended)
            return ticket
        }
    }

    /// Ends the recording that is under way. Returns when its file is complete.
    ///
    /// - Returns: the recording; nil if there is none.
    func stop() async -> RecordingTicket? {
        guard let active = current.withLock({ $0 }) else { return nil }
        active.job.finish()
        await active.ended.value()
        return active.ticket
    }

    /// Returns the folder of a camera's recordings.
    ///
    /// - Throws: an error if nothing is recorded on request.
    static func folder(_ settings: RecordSettings, camera: String) throws(InletError) -> RecordingFolder {
        guard let root = settings.folder else {
            throw InletError(
                .invalidConfiguration,
                "No folder for recordings is configured. Write record: {folder: PATH} for the camera or in defaults:."
            )
        }
        return try RecordingFolder(root, camera: camera)
    }

    private func begin(
        _ ticket: RecordingTicket, in folder: RecordingFolder, keptSize: Int
    ) throws(InletError) -> (PacketJob, Completion<Void>) {
        let ended = Completion<Void>()
        var made: PacketJob?
        media.hub.attach { items in
            let job = PacketJob(items)
            made = job
            return job
        }
        guard let job = made else { throw InletError(.internal, "The recording has no queue.") }
        let (registry, report, camera) = (registry, report, media.camera)
        media.beginUse()
        do throws(InletError) {
            try job.begin(
                named: "inlet-record",
                makeSink: {
                    RecordingWriter(
                        ticket, in: folder, keptSize: keptSize,
                        makeFile: { name in
                            let made = try registry.sink(folder.sinkURI(of: name))
                            guard let packets = made as? any PacketSinkConfiguration else {
                                throw InletError(.internal, "mp4: takes no packets.")
                            }
                            return packets.makePacketSink()
                        }, report: { report(FleetEvent($0, $1, camera: camera)) })
                },
                onEnd: { [weak self] error in
                    self?.ended(job, ticket, error)
                    ended.resolve(())
                })
        } catch {
            media.hub.detach(job)
            media.endUse()
            throw error
        }
        return (job, ended)
    }

    private func ended(_ job: PacketJob, _ ticket: RecordingTicket, _ error: InletError?) {
        media.hub.detach(job)
        media.endUse()
        current.withLock { current in
            guard current?.job === job else { return }
            current?.watch.cancel()
            current = nil
        }
        if let error {
            report(FleetEvent("recording-failed", error.description, camera: media.camera))
        } else if ticket.names.isEmpty {
            report(FleetEvent("recording-failed", "The camera gave nothing to record.", camera: media.camera))
        }
    }

    private func watch(_ ticket: RecordingTicket, _ job: PacketJob) -> Task<Void, Never> {
        Task { [clock] in
            while !Task.isCancelled {
                let left = ticket.end + Self.grace - clock.now
                guard left > .zero else { break }
                try? await Task.sleep(for: left)
            }
            if !Task.isCancelled { job.finish() }
        }
    }
}
