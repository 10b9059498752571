import InletCore
import InletRTSP

/// Plays a capture: its records replace connections and sockets, and its times replace the clock.
///
/// Time advances only from record to record, so that a capture always has the same result. Confined to one thread.
final class CaptureReplay {
    private let file: CaptureFile
    private let context: SourceContext
    /// The time when the first record was played, on the context's clock; nil if records are played as fast as they
    /// are taken.
    private var start: MonotonicTime?
    /// The record to play next, at the time ``now``.
    private var head: CaptureRecord?
    /// The time of the last record.
    private(set) var now: MonotonicTime
    /// Whether the session is over.
    private(set) var isAtEnd = false
    /// Whether more data had arrived after the last taken record.
    private(set) var hasMore = false

    /// - Parameter isPaced: whether records are played at their capture times.
    init(_ file: CaptureFile, isPaced: Bool, _ context: SourceContext) {
        self.file = file
        self.context = context
        start = isPaced ? context.clock.now : nil
        now = file.origin
    }

    /// The machine's time of day when ``now`` was captured, in nanoseconds since 1970.
    var hostTime: Int64 { file.started &+ (now - file.origin).wholeNanoseconds }

    /// Returns the playing time of a captured moment; nil if records are not paced.
    func time(of captured: MonotonicTime) -> MonotonicTime? { start.map { $0 + (captured - file.origin) } }

    /// Delays all following records by this time.
    func postpone(by time: Duration) { start = start.map { $0 + time } }

    /// Whether ``step()`` has found that nothing more could have arrived.
    var isQuiet: Bool { head == nil }

    /// Moves to the next record.
    ///
    /// - Throws: ``InletError/Code/cancelled``, or the error that prevents reading the file.
    func step() throws(InletError) {
        // A record that was not taken belongs to a stream that was not set up.
        head = nil
        while !isAtEnd, head == nil {
            try context.checkCancellation()
            guard let record = try file.next() else {
                isAtEnd = true
                return
            }
            switch record.knownKind {
            case .sent, .sentReport, nil: continue
            case .stopped: isAtEnd = true
            case .received, .packet, .report, .opened, .closed, .timer, .lossy: head = record
            }
            let time = file.origin + .nanoseconds(record.time)
            if let due = self.time(of: time) { try context.sleep(until: due) }
            now = time
        }
    }

    /// Moves to the next connection.
    ///
    /// - Throws: the error if the connection could not be established when captured; otherwise as ``step()``.
    func connect() throws(InletError) -> ReplayChannel {
        while !isAtEnd {
            try step()
            switch head?.knownKind {
            case .opened:
                head = nil
                return ReplayChannel(self)
            case .closed:
                if case .failed(let code) = CaptureEnd(head?.bytes ?? []) { throw Self.error(code) }
            default: break
            }
        }
        throw InletError(.streamEnded, "The capture ends before the connection to the server.")
    }

    /// Takes the result of a read from the connection; nil if the next record is another kind.
    func takeReceived() throws(InletError) -> [UInt8]? {
        switch head?.knownKind {
        case .received:
            defer { head = nil }
            hasMore = head?.hasMore ?? false
            return head?.bytes
        case .closed:
            let end = CaptureEnd(head?.bytes ?? [])
            head = nil
            if case .failed(let code) = end { throw Self.error(code) }
            return []
        default: return nil
        }
    }

    /// Takes a datagram for RTP or RTCP; nil if the next record is another kind.
    func takeDatagram(isControl: Bool) -> [UInt8]? {
        guard head?.knownKind == (isControl ? .report : .packet) else { return nil }
        defer { head = nil }
        hasMore = head?.hasMore ?? false
        return head?.bytes
    }

    /// Takes the record of due work. Returns false if the next record is another kind.
    func takeTimer() -> Bool { take(.timer) }

    /// Takes the record that the session continued over TCP because of losses. Returns false if the next record is
    /// another kind.
    func takeLossy() -> Bool { take(.lossy) }

    private func take(_ kind: CaptureRecord.Kind) -> Bool {
        guard head?.knownKind == kind else { return false }
        head = nil
        return true
    }

    private static func error(_ code: InletError.Code) -> InletError {
        InletError(code, "The connection failed when the session was captured.")
    }
}
