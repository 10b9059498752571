import InletCore
import Synchronization

/// A recording on request: its end, and the files that it has written. Safe from any thread.
///
/// A ticket is open while its recording accepts packets. Requests extend an open ticket's recording. A closed ticket
/// rejects them, so that no request extends a recording that has ended.
final class RecordingTicket: Sendable {
    let camera: String
    /// The cause of the recording: `api`, or the kind of an event.
    let cause: String
    /// The time of the request, in nanoseconds since 1970.
    let asked: Int64
    private let state: Mutex<State>
    /// The maximum number of finished files that are listed. A camera whose parameters change constantly makes more.
    private static let mostNames = 16

    private struct State {
        var end: MonotonicTime
        var isClosed = false
        var name: String?
        var names: [String] = []
    }

    init(camera: String, cause: String, asked: Int64, end: MonotonicTime) {
        (self.camera, self.cause, self.asked) = (camera, cause, asked)
        state = Mutex(State(end: end))
    }

    /// The end of the recording on the capture timeline.
    var end: MonotonicTime { state.withLock { $0.end } }

    /// Whether the recording accepts no more packets.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Moves the end to a later time.
    ///
    /// - Returns: false if the recording accepts no more packets.
    func extend(to end: MonotonicTime) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.end = max(state.end, end)
            return true
        }
    }

    /// Returns whether a packet belongs to the recording. The first packet after the end closes the ticket.
    func admits(_ time: MonotonicTime) -> Bool {
        state.withLock { state in
            if time >= state.end { state.isClosed = true }
            return time < state.end
        }
    }

    /// Closes the ticket.
    func close() { state.withLock { $0.isClosed = true } }

    /// Closes the ticket if its end was more than a grace period ago.
    ///
    /// - Returns: the time until the ticket must be closed; nil if it is closed.
    func close(at now: MonotonicTime, after grace: Duration) -> Duration? {
        state.withLock { state in
            let left = state.end + grace - now
            if left <= .zero { state.isClosed = true }
            return state.isClosed ? nil : left
        }
    }

    /// The file that is being written; nil before the first packet.
    var name: String? { state.withLock { $0.name } }

    /// The finished files.
    var names: [String] { state.withLock { $0.names } }

    func begin(_ name: String) { state.withLock { $0.name = name } }

    func end(_ name: String) {
        state.withLock { state in
            state.name = nil
            if state.names.count < Self.mostNames { state.names.append(name) }
        }
    }
}
