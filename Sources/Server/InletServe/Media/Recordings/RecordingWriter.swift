import InletCore
import InletFFmpeg
import InletOutput
import InletSystem

/// Writes one recording: packets into a file, and a note about it. Confined to its job's thread.
///
/// A recording continues in another file when the packets' parameters change, unless only the parameter sets change and
/// the file can hold them, and at the first key frame after a file has reached its longest time or a quarter of the
/// kept size: the oldest part of a long recording can be deleted, and the rest stays.
final class RecordingWriter: PacketSink {
    private let ticket: RecordingTicket
    private let store: RecordingStore
    private let settings: RecordSettings
    private let makeFile: (String) throws -> any PacketSink
    private let report: (String, String) -> Void
    private var file: File?
    private var parameters: CodecParameters?

    /// The file that is being written.
    private struct File {
        let sink: any PacketSink
        /// The parameters at the beginning of the file.
        let parameters: CodecParameters
        var note: RecordingNote
        let name: String
        let firstTime: MonotonicTime
        /// The time from which on a key frame begins another file.
        let latest: MonotonicTime
        var gaps = GapDetector()
        var lastEnd = Duration.zero
        var byteCount = 0
        /// The bytes written since the sizes of all recordings were last compared with the limit.
        var unlookedBytes = 0
        /// The capture time up to which the file has been synced.
        var synced: MonotonicTime
    }

    /// The number of bytes written between two comparisons of all recordings' sizes with the limit.
    private let lookInterval: Int
    /// The time between two syncs of a file. A power cut loses only the data since the last sync.
    private static let syncInterval = Duration.seconds(1)

    /// - Parameters:
    ///   - makeFile: makes the sink that writes packets to a file with the given name in the folder.
    ///   - report: called with the kind and the text of an event.
    init(
        _ ticket: RecordingTicket, in store: RecordingStore, _ settings: RecordSettings,
        makeFile: @escaping (String) throws -> any PacketSink, report: @escaping (String, String) -> Void
    ) {
        (self.ticket, self.store, self.settings) = (ticket, store, settings)
        (self.makeFile, self.report) = (makeFile, report)
        lookInterval = min(4_000_000, settings.keptSize / 16)
    }

    func start(_ parameters: CodecParameters) throws {
        if let file, parameters.continues(file.parameters) {
            try file.sink.start(parameters)
        } else {
            closeFile(failure: nil)
        }
        self.parameters = parameters
    }

    func write(_ packet: EncodedPacket) throws {
        guard ticket.admits(packet.captureTime) else { throw SinkStopped() }
        if packet.isKey, let file, isFull(file, at: packet.captureTime) { closeFile(failure: nil) }
        do {
            if file == nil {
                guard packet.isKey else { throw KeyFrameNeeded() }
                try openFile(at: packet)
            }
            try file?.sink.write(packet)
            try follow(packet)
        } catch is KeyFrameNeeded {
            throw KeyFrameNeeded()
        } catch is SinkStopped {
            throw SinkStopped()
        } catch {
            // Later requests start another recording.
            ticket.close()
            let failure = InletError(wrapping: error, operation: "Recording")
            // The data written before is complete up to its last fragment.
            closeFile(failure: failure.description)
            throw failure
        }
    }

    /// Whether another file should begin.
    private func isFull(_ file: File, at time: MonotonicTime) -> Bool {
        time >= file.latest || file.byteCount >= settings.keptSize / 4
    }

    /// Whether a key frame is needed to begin another file.
    var wantsKeyFrame: Bool { file.map { isFull($0, at: $0.firstTime + $0.lastEnd) } ?? false }

    private func openFile(at packet: EncodedPacket) throws {
        guard let parameters else { return }
        store.retain(settings.keptSize)
        let start = WallTime.of(packet)
        let entry = try store.begin(at: start)
        do {
            let sink = try makeFile(entry.name)
            try sink.start(parameters)
            let note = RecordingNote(
                camera: ticket.camera, number: entry.number, start: start, cause: ticket.cause, asked: ticket.asked)
            let time = packet.captureTime
            file = File(
                sink: sink, parameters: parameters, note: note, name: entry.name, firstTime: time,
                latest: time + settings.before + settings.longest, synced: time)
        } catch {
            store.end(entry.name)
            throw error
        }
        ticket.begin(entry.name)
        writeNote()
        report("recording-started", entry.name)
    }

    private func follow(_ packet: EncodedPacket) throws {
        guard var file else { return }
        file.lastEnd = max(
            file.lastEnd, packet.captureTime - file.firstTime + (packet.duration.map(\.duration) ?? .zero))
        let gap = file.gaps.add(MonotonicTime(nanoseconds: packet.dts.nanoseconds))
        if let gap { file.note.add(gap) }
        file.byteCount = file.byteCount.adding(saturating: packet.data.count)
        file.unlookedBytes += packet.data.count
        let looks = file.unlookedBytes >= lookInterval
        if looks { file.unlookedBytes = 0 }
        let syncs = packet.captureTime - file.synced >= Self.syncInterval
        if syncs { file.synced = packet.captureTime }
        self.file = file
        if gap != nil { writeNote() }
        if syncs { try store.folder.sync(file.name) }
        // If only earlier recordings are too large, this one continues: they can be deleted when its first file is
        // complete.
        if looks, !store.retain(settings.keptSize), file.byteCount > settings.keptSize / 2 {
            ticket.close()
            closeFile(
                failure: "The camera sends more than keep-size (\(settings.keptSize) bytes) between two key frames.")
            throw SinkStopped()
        }
    }

    func finish() throws {
        ticket.close()
        closeFile(failure: nil)
    }

    private func closeFile(failure: String?) {
        guard var file else { return }
        var failure = failure
        do {
            try file.sink.finish()
            try store.folder.sync(file.name)
        } catch {
            failure = failure ?? InletError(wrapping: error, operation: "Finishing the recording").description
        }
        file.note.length = file.lastEnd
        file.note.failure = failure
        self.file = file
        writeNote()
        self.file = nil
        store.end(file.name)
        ticket.end(file.name)
        if let failure {
            report("recording-failed", "\(file.name): \(failure)")
        } else {
            report("recording-ended", file.name)
        }
        store.retain(settings.keptSize)
    }

    /// Writes the note. If the note cannot be written, for example to a full disk, the recording continues.
    private func writeNote() {
        guard let file else { return }
        do throws(InletError) {
            try store.folder.write(file.note, of: file.name)
        } catch {
            report("recording-note-failed", "\(file.name): \(error.description)")
        }
    }
}

extension MediaTime {
    /// The time as a duration.
    fileprivate var duration: Duration { .nanoseconds(nanoseconds) }
}
