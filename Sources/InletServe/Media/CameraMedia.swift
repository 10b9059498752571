import InletCore
import Synchronization

/// The packets of a camera and those that use them: recordings and streams. It outlives captures, as a recording goes
/// on when the camera is opened again. Safe from any thread.
package final class CameraMedia: Sendable {
    let camera: String
    let hub: PacketHub
    private let state: Mutex<State>
    private let reporting = Mutex(())

    private struct State {
        var isNeeded: Bool
        /// Whether the source has packets; nil before it was open.
        var hasPackets: Bool?
        var context: SinkContext?
        var sessions = SinkSessions()
    }

    init(camera: String, _ settings: RecordSettings) {
        self.camera = camera
        hub = PacketHub(settings.history)
        state = Mutex(State(isNeeded: settings.folder != nil))
    }

    /// Adopts other settings.
    func apply(_ settings: RecordSettings) {
        hub.limit(to: settings.history)
        if settings.folder != nil { state.withLock { $0.isNeeded = true } }
    }

    /// Whether packets are to be taken from the camera: it may be recorded, or somebody has asked for a stream.
    var isNeeded: Bool { state.withLock { $0.isNeeded } }

    /// Notes that packets are to be taken.
    func need() { state.withLock { $0.isNeeded = true } }

    /// Whether the source has packets; nil before it was open.
    var hasPackets: Bool? { state.withLock { $0.hasPackets } }

    /// Notes what a source that was opened has.
    func sourceOpened(_ format: SourceFormat) {
        state.withLock { $0.hasPackets = format.hasPackets && format.pacing != .unpaced }
    }

    /// Tells a sink how many use the camera, from now on.
    func report(to context: SinkContext) {
        let sessions = state.withLock { state in
            state.context = context
            return state.sessions
        }
        context.report(sessions)
    }

    /// Notes that a recording or a stream begins: a camera on demand stays open for it. ``endUse()`` follows.
    func beginUse() {
        change { sessions in
            sessions.open += 1
            sessions.opened &+= 1
        }
    }

    /// Notes that a recording or a stream has ended.
    func endUse() { change { $0.open -= 1 } }

    private func change(_ body: (inout SinkSessions) -> Void) {
        state.withLock { body(&$0.sessions) }
        // One after the other, so that the last report has the last number.
        reporting.withLock { _ in
            let (context, sessions) = state.withLock { ($0.context, $0.sessions) }
            context?.report(sessions)
        }
    }
}
