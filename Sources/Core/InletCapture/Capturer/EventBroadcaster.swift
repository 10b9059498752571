import InletCore
import InletSystem
import Synchronization

/// Hands each event to every listener, and holds the state that was last reported.
final class EventBroadcaster: Sendable {
    /// The most events that are buffered for one listener.
    static let bufferedEvents = 256
    private let events = Broadcaster<CapturerEvent>(limit: bufferedEvents)
    private let state = Mutex(CapturerState.idle)

    func listen() -> AsyncStream<CapturerEvent> { events.stream() }

    /// The capturer's state, as last reported.
    var capturerState: CapturerState { state.withLock { $0 } }

    func send(_ event: CapturerEvent) {
        if case .stateChanged(let new) = event { state.withLock { $0 = new } }
        events.send(event)
    }

    func finish() { events.finish() }
}
