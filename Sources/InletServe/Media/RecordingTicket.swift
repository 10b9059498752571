import InletCore
import Synchronization

/// A recording that is under way: until when, and which file is written. Safe from any thread.
final class RecordingTicket: Sendable {
    let camera: String
    /// What asked for it.
    let cause: String
    /// When it was asked for, in nanoseconds since 1970.
    let asked: Int64
    /// When it ends at the latest, on the capture timeline.
    private let latest: MonotonicTime
    private let state: Mutex<State>

    private struct State {
        var end: MonotonicTime
        var name: String?
        var names: [String] = []
    }

    init(camera: String, cause: String, asked: Int64, end: MonotonicTime, latest: MonotonicTime) {
        (self.camera, self.cause, self.asked, self.latest) = (camera, cause, asked, latest)
        state = Mutex(State(end: min(end, latest)))
    }

    /// When it ends, on the capture timeline.
    var end: MonotonicTime { state.withLock { $0.end } }

    /// Makes it end later, if that is later.
    func extend(to end: MonotonicTime) { state.withLock { $0.end = min(latest, max($0.end, end)) } }

    /// The file that is written now; nil before the first packet.
    var name: String? { state.withLock { $0.name } }

    /// The files that were finished.
    var names: [String] { state.withLock { $0.names } }

    func begin(_ name: String) { state.withLock { $0.name = name } }

    func end(_ name: String) {
        state.withLock { state in
            state.name = nil
            // One for each change of the parameters; a camera that changes them all the time is not followed.
            if state.names.count < 16 { state.names.append(name) }
        }
    }
}
