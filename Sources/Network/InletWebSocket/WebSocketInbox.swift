import DequeModule
import InletCore
import Synchronization

/// The unread messages of a connection, and its end. Safe from any thread.
final class WebSocketInbox: Sendable {
    /// How a connection ended.
    enum End: Sendable {
        case closed(WebSocketClosing)
        case failed(InletError)
    }
    typealias Reading = Result<WebSocketMessage?, InletError>

    private struct State {
        var messages: Deque<WebSocketMessage> = []
        var bytes = 0
        var end: End?
        var reader: CheckedContinuation<Reading, Never>?
        var isPaused = false
    }

    private let state = Mutex(State())
    private let mostMessages, mostBytes: Int

    init(mostMessages: Int, mostBytes: Int) {
        self.mostMessages = mostMessages
        self.mostBytes = mostBytes
    }

    var end: End? { state.withLock { $0.end } }
    /// Whether reading from the network is paused, because too much is unread.
    var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Adds a received message.
    ///
    /// - Returns: whether reading from the network must pause.
    func append(_ message: WebSocketMessage) -> Bool {
        let (reader, pauses) = state.withLock { state in
            guard state.end == nil else {
                return (nil as CheckedContinuation<Reading, Never>?, false)
            }
            if let reader = state.reader.take() { return (reader, false) }
            state.messages.append(message)
            state.bytes += message.count
            let isFull = state.messages.count >= mostMessages || state.bytes >= mostBytes
            state.isPaused = state.isPaused || isFull
            return (nil, isFull)
        }
        reader?.resume(returning: .success(message))
        return pauses
    }

    /// Records the end; later ends are ignored. Received messages can still be read.
    func finish(_ end: End) {
        let reader = state.withLock { state in
            state.end = state.end ?? end
            return state.reader.take()
        }
        reader?.resume(returning: Self.result(end))
    }

    /// Returns the next message, or nil after the closing handshake.
    ///
    /// - Parameter resume: called when reading from the network may continue.
    func next(resume: @Sendable () -> Void) async throws(InletError) -> WebSocketMessage? {
        let result: Reading = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in wait(continuation, resume: resume) }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(returning: Self.cancelled)
        }
        return try result.get()
    }

    private static var cancelled: Reading {
        .failure(InletError(.cancelled, "Reading from a WebSocket was cancelled."))
    }

    private func wait(_ continuation: CheckedContinuation<Reading, Never>, resume: () -> Void) {
        // The handler of a cancellation may have been called before there was a reader.
        let isCancelled = Task.isCancelled
        let (result, resumes): (Reading?, Bool) = state.withLock { state in
            if let message = state.messages.popFirst() {
                state.bytes -= message.count
                let resumes =
                    state.isPaused && state.messages.count <= mostMessages / 2 && state.bytes <= mostBytes / 2
                if resumes { state.isPaused = false }
                return (.success(message), resumes)
            }
            if let end = state.end { return (Self.result(end), false) }
            if isCancelled { return (Self.cancelled, false) }
            guard state.reader == nil else {
                return (.failure(InletError(.internal, "A WebSocket is read by two tasks at once.")), false)
            }
            state.reader = continuation
            return (nil, false)
        }
        if resumes { resume() }
        if let result {
            continuation.resume(returning: result)
        } else if Task.isCancelled {
            state.withLock { $0.reader.take() }?.resume(returning: Self.cancelled)
        }
    }

    private static func result(_ end: End) -> Reading {
        switch end {
        case .closed: .success(nil)
        case .failed(let error): .failure(error)
        }
    }
}
