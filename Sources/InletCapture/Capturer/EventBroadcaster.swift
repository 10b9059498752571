import InletCore
import Synchronization

/// Hands each event to everyone who listens. A listener that does not keep up loses the oldest events, never memory.
final class EventBroadcaster: Sendable {
    /// Events that wait for one listener.
    static let bufferedEvents = 256
    private let state = Mutex(State())

    private struct State {
        var listeners: [Int: AsyncStream<CapturerEvent>.Continuation] = [:]
        var nextNumber = 0
        var isFinished = false
        var capturerState = CapturerState.idle
    }

    func listen() -> AsyncStream<CapturerEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CapturerEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        let number: Int? = state.withLock {
            guard !$0.isFinished else { return nil }
            $0.nextNumber += 1
            $0.listeners[$0.nextNumber] = continuation
            return $0.nextNumber
        }
        if let number {
            continuation.onTermination = { [weak self] _ in
                _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
            }
        } else {
            continuation.finish()
        }
        return stream
    }

    /// The capturer's state, as it was told last.
    var capturerState: CapturerState { state.withLock { $0.capturerState } }

    func send(_ event: CapturerEvent) {
        let listeners = state.withLock { state in
            if case .stateChanged(let new) = event { state.capturerState = new }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(event) }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
