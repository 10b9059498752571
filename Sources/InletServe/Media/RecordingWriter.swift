import InletCore
import InletOutput
import InletFFmpeg
import InletSystem

/// Writes one recording: packets into a file, and what is known of it into a note beside it. Confined to its job's
/// thread.
///
/// A change of the packets' parameters begins another file, unless only the parameter sets change and the file can hold
/// them.
final class RecordingWriter: PacketSink {
    private let ticket: RecordingTicket
    private let folder: RecordingFolder
    private let makeFile: (String) throws -> any PacketSink
    private let keptSize: Int
    private let report: (String, String) -> Void
    private var file: (sink: any PacketSink, name: String, isStarted: Bool)?
    private var parameters: CodecParameters?
    /// The parameters at the beginning of the file.
    private var opened: CodecParameters?
    private var note: RecordingNote?
    private var gaps = GapDetector()
    private var firstTime: MonotonicTime?
    private var lastEnd = Duration.zero
    /// Bytes since it was last looked after how many there are in all.
    private var unlookedBytes = 0
    private static let lookInterval = 4_000_000

    /// - Parameters:
    ///   - makeFile: makes what writes packets into a file of a name in the folder.
    ///   - report: called with the kind and the text of an event.
    init(
        _ ticket: RecordingTicket, in folder: RecordingFolder, keptSize: Int,
        makeFile: @escaping (String) throws -> any PacketSink, report: @escaping (String, String) -> Void
    ) {
        (self.ticket, self.folder, self.keptSize) = (ticket, folder, keptSize)
        (self.makeFile, self.report) = (makeFile, report)
    }

    func start(_ parameters: CodecParameters) throws {
        if let file, let opened, parameters.continues(opened) {
            try file.sink.start(parameters)
        } else {
            try closeFile(failure: nil)
        }
        self.parameters = parameters
    }

    func write(_ packet: EncodedPacket) throws {
        guard packet.captureTime < ticket.end else { throw SinkStopped() }
        if file == nil {
            guard packet.isKey else { throw KeyFrameNeeded() }
            try openFile(at: packet)
        }
        do {
            try file?.sink.write(packet)
        } catch is KeyFrameNeeded {
            throw KeyFrameNeeded()
        } catch {
            let failure = InletError(wrapping: error, operation: "Recording")
            // What was written before is whole up to its last fragment.
            try? closeFile(failure: failure.description)
            throw failure
        }
        try follow(packet)
    }

    private func openFile(at packet: EncodedPacket) throws {
        guard let parameters else { return }
        try folder.make()
        _ = folder.retain(keptSize, current: nil)
        let start = WallTime.of(packet)
        let name = folder.freeName(at: start)
        let sink = try makeFile(name)
        try sink.start(parameters)
        file = (sink, name, true)
        opened = parameters
        (firstTime, lastEnd, gaps, unlookedBytes) = (packet.captureTime, .zero, GapDetector(), 0)
        note = RecordingNote(camera: ticket.camera, start: start, cause: ticket.cause, asked: ticket.asked)
        ticket.begin(name)
        writeNote()
        report("recording-started", name)
    }

    private func follow(_ packet: EncodedPacket) throws {
        if let firstTime {
            lastEnd = max(lastEnd, packet.captureTime - firstTime + (packet.duration.map(\.duration) ?? .zero))
        }
        if let gap = gaps.add(MonotonicTime(nanoseconds: packet.dts.nanoseconds)) {
            note?.add(gap)
            writeNote()
        }
        unlookedBytes += packet.data.count
        guard unlookedBytes >= Self.lookInterval else { return }
        unlookedBytes = 0
        guard folder.retain(keptSize, current: file?.name) else {
            try closeFile(failure: "The recording alone has more than the \(keptSize) bytes that are kept.")
            throw SinkStopped()
        }
    }

    func finish() throws { try closeFile(failure: nil) }

    private func closeFile(failure: String?) throws {
        guard let file else { return }
        self.file = nil
        var failure = failure
        do {
            try file.sink.finish()
        } catch {
            failure = failure ?? InletError(wrapping: error, operation: "Finishing the recording").description
        }
        note?.length = lastEnd
        note?.failure = failure
        writeNote(of: file.name)
        ticket.end(file.name)
        if let failure {
            report("recording-failed", "\(file.name): \(failure)")
        } else {
            report("recording-ended", file.name)
        }
        _ = folder.retain(keptSize, current: nil)
    }

    private func writeNote() { if let file { writeNote(of: file.name) } }

    /// A note that cannot be written, as on a full disk, ends no recording.
    private func writeNote(of name: String) {
        guard let note else { return }
        do throws(InletError) {
            try folder.write(note, of: name)
        } catch {
            report("recording-note-failed", "\(name): \(error.description)")
        }
    }
}

extension MediaTime {
    /// The time as a duration.
    fileprivate var duration: Duration { .nanoseconds(nanoseconds) }
}
