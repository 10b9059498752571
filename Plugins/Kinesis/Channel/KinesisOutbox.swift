import InletRTC
import Synchronization

/// The messages waiting to be sent, in one queue per peer. The queues take turns, so a peer with many messages delays
/// no other. Safe from any thread.
final class KinesisOutbox: Sendable {
    /// A message and its peer.
    typealias Item = (message: SignalingMessage, peer: PeerID)

    private struct State {
        var queues: [PeerID: [SignalingMessage]] = [:]
        /// The peers with messages, starting with the next in turn.
        var turns: [PeerID] = []
        var isClosed = false
        var reader: AsyncStream<Void>.Continuation?
    }

    private let state = Mutex(State())
    private let most: Int
    /// - Parameter most: the maximum number of messages per peer.
    init(most: Int) { self.most = most }

    /// Returns a stream that yields when a message is waiting, at most one ahead. Ends an earlier stream.
    func additions() -> AsyncStream<Void> {
        let (stream, reader) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let earlier = state.withLock { state in
            defer { state.reader = reader }
            return state.reader
        }
        earlier?.finish()
        reader.yield()
        return stream
    }

    /// Adds a message. If there are too many, the peer's oldest candidate is dropped, or else its oldest message.
    func append(_ message: SignalingMessage, to peer: PeerID) {
        let reader = state.withLock { state -> AsyncStream<Void>.Continuation? in
            guard !state.isClosed else { return nil }
            var queue = state.queues[peer] ?? []
            if queue.isEmpty { state.turns.append(peer) }
            if queue.count >= most {
                let index = queue.firstIndex { if case .candidate = $0 { true } else { false } }
                queue.remove(at: index ?? 0)
            }
            queue.append(message)
            state.queues[peer] = queue
            return state.reader
        }
        reader?.yield()
    }

    /// Removes and returns the next message; nil if none is waiting.
    func next() -> Item? {
        state.withLock { state in
            guard !state.turns.isEmpty else { return nil }
            let peer = state.turns.removeFirst()
            var queue = state.queues[peer] ?? []
            guard !queue.isEmpty else { return nil }
            let message = queue.removeFirst()
            state.queues[peer] = queue.isEmpty ? nil : queue
            if !queue.isEmpty { state.turns.append(peer) }
            return (message, peer)
        }
    }

    /// Puts back a message that could not be sent, before the others of its peer.
    func restore(_ item: Item) {
        state.withLock { state in
            guard !state.isClosed else { return }
            var queue = state.queues[item.peer] ?? []
            if queue.isEmpty { state.turns.insert(item.peer, at: 0) }
            if queue.count < most { queue.insert(item.message, at: 0) }
            state.queues[item.peer] = queue
        }
    }

    /// Accepts no more messages, and discards the waiting ones.
    func close() {
        let reader = state.withLock { state in
            (state.isClosed, state.queues, state.turns) = (true, [:], [])
            return state.reader.take()
        }
        reader?.finish()
    }
}
