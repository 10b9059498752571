import InletCore
import InletRTSP
import InletSystem

/// Hands what happens in a session to a ``CaptureOutput``.
///
/// Confined to the source's thread.
final class CaptureRecorder {
    private let output: CaptureOutput
    private var writer: CaptureWriter
    /// Why the capture could not be written; nil while it can.
    private(set) var failure: InletError?

    init(_ configuration: RTSPConfiguration, to output: CaptureOutput, at now: MonotonicTime) {
        self.output = output
        let redactor = CaptureRedactor()
        writer = CaptureWriter(
            configuration.captureHeader(redactor, at: now, started: HostTime.now), start: now, redactor: redactor)
        flush()
    }

    /// Notes bytes that were read from the connection.
    func receive(_ bytes: RawSpan, hasMore: Bool, at time: MonotonicTime) {
        writer.receive(bytes, hasMore: hasMore, at: time)
    }

    /// Notes what the parser has found; see ``CaptureWriter/note(_:consumed:)``.
    func note(_ event: RTSPParser.Event, consumed: Int) {
        writer.note(event, consumed: consumed)
        flush()
    }

    /// Notes that the parser refuses what follows.
    func noteParserFailure() {
        writer.noteParserFailure()
        flush()
    }

    /// Notes bytes that were given to the connection.
    func send(_ bytes: [UInt8], at time: MonotonicTime) {
        writer.send(bytes, at: time)
        flush()
    }

    /// Notes a datagram that arrived; see ``CaptureWriter/datagram(_:_:hasMore:at:)``.
    func datagram(_ kind: CaptureRecord.Kind, _ bytes: RawSpan, hasMore: Bool = false, at time: MonotonicTime) {
        writer.datagram(kind, bytes, hasMore: hasMore, at: time)
        flush()
    }

    /// Notes a datagram with RTCP that was sent.
    func sendReport(_ bytes: [UInt8], at time: MonotonicTime) {
        writer.sendReport(bytes, at: time)
        flush()
    }

    /// Notes that a connection was opened.
    func open(isSecure: Bool, at time: MonotonicTime) {
        writer.open(isSecure ? "rtsps" : "rtsp", at: time)
        flush()
    }

    /// Notes that the connection has ended: by the server, by an error, or by the client.
    func close(_ reason: CaptureEnd, at time: MonotonicTime) {
        writer.close(reason.text, at: time)
        flush()
    }

    /// Notes that what was due by this time is done.
    func timer(at time: MonotonicTime) {
        writer.timer(at: time)
        flush()
    }

    /// Notes that the session continues over TCP because of losses.
    func lossy(at time: MonotonicTime) {
        writer.lossy(at: time)
        flush()
    }

    /// Notes that the client ends the session.
    func stop(at time: MonotonicTime) {
        writer.stop(at: time)
        flush()
    }

    private func flush() {
        guard writer.hasOutput, failure == nil else { return }
        failure = output.write(writer.takeOutput())
    }
}

/// How a connection ended, as captures state it.
enum CaptureEnd: Equatable {
    /// The server ended it in order.
    case ended
    /// The client left it.
    case left
    /// It failed, or could not be made.
    case failed(InletError.Code)

    var text: String {
        switch self {
        case .ended: "ended"
        case .left: "left"
        case .failed(let code): code.description
        }
    }

    /// Reads the text of a record. A code of an error is one word in letters.
    init(_ text: [UInt8]) {
        switch String(decoding: text, as: UTF8.self) {
        case "ended": self = .ended
        case "left": self = .left
        case let name: self = .failed(text.allSatisfy(\.isASCIILetter) ? .init(name) : .disconnected)
        }
    }
}
