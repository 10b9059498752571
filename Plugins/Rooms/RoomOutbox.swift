import InletCore
import InletRTC
import Synchronization

/// The texts waiting to be sent to the server, over consecutive connections. Safe from any thread.
final class RoomOutbox: Sendable {
    private struct State {
        var continuation: AsyncStream<String>.Continuation?
        var bytes = 0
        var isFinished = false
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: the maximum number of waiting bytes.
    init(limit: Int) { self.limit = limit }

    /// Starts a connection: later texts go to the stream.
    func begin() -> AsyncStream<String> {
        let (texts, continuation) = AsyncStream.makeStream(of: String.self)
        let isFinished = state.withLock { state in
            (state.continuation, state.bytes) = (continuation, 0)
            return state.isFinished
        }
        if isFinished { continuation.finish() }
        return texts
    }

    /// Ends a connection: nothing can be appended until another one starts.
    func end() { state.withLock { $0.continuation.take() }?.finish() }

    /// Ends the connection's stream once all waiting texts are sent, and ends the streams of later connections at
    /// once.
    ///
    /// - Returns: whether there is a connection.
    func finish() -> Bool {
        let continuation = state.withLock { state in
            state.isFinished = true
            return state.continuation
        }
        continuation?.finish()
        return continuation != nil
    }

    /// - Throws: ``SignalingFailure`` if there is no connection, or if too many bytes are waiting.
    func append(_ text: String) throws(SignalingFailure) {
        try state.withLock { state throws(SignalingFailure) in
            guard let continuation = state.continuation, !state.isFinished else {
                throw SignalingFailure(
                    InletError(.disconnected, "The room cannot be reached at present."), retryAfter: .seconds(1))
            }
            guard state.bytes + text.utf8.count <= limit else {
                throw SignalingFailure(
                    InletError(.resourceExhausted, "More than \(limit) bytes wait to be sent to the room."),
                    retryAfter: .seconds(1))
            }
            state.bytes += text.utf8.count
            continuation.yield(text)
        }
    }

    /// Records that a text was sent.
    func sent(_ text: String) { state.withLock { $0.bytes = max(0, $0.bytes - text.utf8.count) } }
}
