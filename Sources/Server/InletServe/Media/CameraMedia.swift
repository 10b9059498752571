import InletCore
import Synchronization

/// The packets of a camera and their users: recordings and streams. It outlives captures, because a recording continues
/// when the camera is opened again. Safe from any thread.
package final class CameraMedia: Sendable {
    let camera: String
    let hub: PacketHub
    private let state: Mutex<State>
    private let reporting = Mutex(())

    private struct State {
        var isNeeded: Bool
        /// Whether the source has packets; nil until the source has been opened.
        var hasPackets: Bool?
        var context: SinkContext?
        var sessions = SinkSessions()
    }

    init(camera: String, _ settings: RecordSettings) {
        self.camera = camera
        hub = PacketHub(settings.history)
        state = Mutex(State(isNeeded: settings.folder != nil))
    }

    /// Adopts new settings.
    func apply(_ settings: RecordSettings) {
        hub.limit(to: settings.history)
        if settings.folder != nil { state.withLock { $0.isNeeded = true } }
    }

    /// Whether packets must be taken from the camera: it may be recorded, or a client has requested a stream.
    var isNeeded: Bool { state.withLock { $0.isNeeded } }

    /// Notes that packets must be taken.
    func need() { state.withLock { $0.isNeeded = true } }

    /// Whether the source has packets; nil until the source has been opened.
    var hasPackets: Bool? { state.withLock { $0.hasPackets } }

    /// Records whether an opened source has packets.
    func sourceOpened(_ format: SourceFormat) {
        state.withLock { $0.hasPackets = format.hasPackets && format.pacing != .unpaced }
    }

    /// Reports the number of users of the camera to a sink, from now on.
    func report(to context: SinkContext) {
        let sessions = state.withLock { state in
            state.context = context
            return state.sessions
        }
        context.report(sessions)
    }

    /// Called when a recording or a stream begins, so that a camera on demand stays open for it. ``endUse()`` must
    /// follow.
    func beginUse() {
        change { sessions in
            sessions.open += 1
            sessions.opened &+= 1
        }
    }

    /// Called when a recording or a stream has ended.
    func endUse() { change { $0.open -= 1 } }

    private func change(_ body: (inout SinkSessions) -> Void) {
        state.withLock { body(&$0.sessions) }
        // Reports are sent one after the other, so that the last report has the latest number.
        reporting.withLock { _ in
            let (context, sessions) = state.withLock { ($0.context, $0.sessions) }
            context?.report(sessions)
        }
    }
}
