import InletCore
import InletRTSP
import InletSystem

/// Records the events of a session to a ``CaptureOutput``.
///
/// Confined to the source's thread.
final class CaptureRecorder {
    private let output: CaptureOutput
    private var writer: CaptureWriter
    /// The error that prevented writing the capture; nil without an error.
    private(set) var failure: InletError?

    init(_ configuration: RTSPConfiguration, to output: CaptureOutput, at now: MonotonicTime) {
        self.output = output
        let redactor = CaptureRedactor()
        writer = CaptureWriter(
            configuration.captureHeader(redactor, at: now, started: HostTime.now), start: now, redactor: redactor)
        flush()
    }

    /// Records bytes that were read from the connection.
    func receive(_ bytes: RawSpan, hasMore: Bool, at time: MonotonicTime) {
        writer.receive(bytes, hasMore: hasMore, at: time)
    }

    /// Records the parser's results; see ``CaptureWriter/note(_:consumed:)``.
    func note(_ event: RTSPParser.Event, consumed: Int) {
        writer.note(event, consumed: consumed)
        flush()
    }

    /// Records that the parser rejects the following bytes.
    func noteParserFailure() {
        writer.noteParserFailure()
        flush()
    }

    /// Records bytes that were passed to the connection.
    func send(_ bytes: [UInt8], at time: MonotonicTime) {
        writer.send(bytes, at: time)
        flush()
    }

    /// Records a received datagram; see ``CaptureWriter/datagram(_:_:hasMore:at:)``.
    func datagram(_ kind: CaptureRecord.Kind, _ bytes: RawSpan, hasMore: Bool = false, at time: MonotonicTime) {
        writer.datagram(kind, bytes, hasMore: hasMore, at: time)
        flush()
    }

    /// Records a sent RTCP datagram.
    func sendReport(_ bytes: [UInt8], at time: MonotonicTime) {
        writer.sendReport(bytes, at: time)
        flush()
    }

    /// Records that a connection was opened.
    func open(isSecure: Bool, at time: MonotonicTime) {
        writer.open(isSecure ? "rtsps" : "rtsp", at: time)
        flush()
    }

    /// Records the end of the connection: by the server, by an error, or by the client.
    func close(_ reason: CaptureEnd, at time: MonotonicTime) {
        writer.close(reason.text, at: time)
        flush()
    }

    /// Records that the work due by this time is done.
    func timer(at time: MonotonicTime) {
        writer.timer(at: time)
        flush()
    }

    /// Records that the session continues over TCP because of losses.
    func lossy(at time: MonotonicTime) {
        writer.lossy(at: time)
        flush()
    }

    /// Records that the client ends the session.
    func stop(at time: MonotonicTime) {
        writer.stop(at: time)
        flush()
    }

    private func flush() {
        guard writer.hasOutput, failure == nil else { return }
        failure = output.write(writer.takeOutput())
    }
}

/// The end of a connection, as captures state it.
enum CaptureEnd: Equatable {
    /// The server closed the connection normally.
    case ended
    /// The client closed it.
    case left
    /// The connection failed, or could not be established.
    case failed(InletError.Code)

    var text: String {
        switch self {
        case .ended: "ended"
        case .left: "left"
        case .failed(let code): code.description
        }
    }

    /// Parses the text of a record. An error code is one word of letters.
    init(_ text: [UInt8]) {
        switch String(decoding: text, as: UTF8.self) {
        case "ended": self = .ended
        case "left": self = .left
        case let name: self = .failed(text.allSatisfy(\.isASCIILetter) ? .init(name) : .disconnected)
        }
    }
}
