import InletRTC
import Synchronization

/// The STUN and TURN servers that a room's server has sent to a member. Safe from any thread.
final class RoomServerList: Sendable {
    private struct State {
        /// The most recently sent servers; nil before the first welcome.
        var servers: [ICEServer]?
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    /// The time for which a session waits for the first welcome.
    private static let patience = Duration.seconds(2)

    /// Sets the servers that sessions use from now on.
    func set(_ servers: [ICEServer]) {
        let waiting = state.withLock { state in
            state.servers = servers
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.self)
        }
        for each in waiting { each.finish() }
    }

    /// Returns the most recently sent servers as soon as there are any, or an empty list after two seconds.
    func current() async -> [ICEServer] {
        let (welcome, waiter) = AsyncStream.makeStream(of: Void.self)
        let number: Int? = state.withLock { state in
            guard state.servers == nil else { return nil }
            state.count += 1
            state.waiting[state.count] = waiter
            return state.count
        }
        if let number {
            let late = Task {
                try? await Task.sleep(for: Self.patience)
                waiter.finish()
            }
            for await _ in welcome {}
            late.cancel()
            state.withLock { $0.waiting[number] = nil }
        }
        return state.withLock { $0.servers ?? [] }
    }
}
