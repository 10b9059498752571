import Dispatch
import InletCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Lets as many live streams decode at once as there are processors, the most urgent first.
///
/// Where there are more streams than processors can decode, the system's scheduler would give each the same, and all
/// would be late. With turns, those that are served are served in time.
final class DecodingTurns: Sendable {
    /// Those of the process: all its captures share the processors. One more than there are, so that none is idle while
    /// a turn changes hands.
    static let shared = DecodingTurns(count: max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) + 1)

    private final class Waiter: Sendable {
        let rank: Double
        let semaphore = DispatchSemaphore(value: 0)

        init(rank: Double) { self.rank = rank }
    }

    private struct State {
        var free: Int
        var waiters: [Waiter] = []
    }

    private let state: Mutex<State>

    /// - Parameter count: how many there are at once.
    init(count: Int) { state = Mutex(State(free: count)) }

    /// Waits for a turn. Whoever got one gives it back with ``give()``.
    ///
    /// - Parameters:
    ///   - rank: of those that wait, the one with the least is next.
    ///   - limit: how long to wait. A decoder that hangs shall not stop all others.
    /// - Returns: whether there was a turn in time.
    func take(rank: Double, atMost limit: Duration) -> Bool {
        let waiter = state.withLock { state -> Waiter? in
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            let waiter = Waiter(rank: rank)
            state.waiters.append(waiter)
            return waiter
        }
        guard let waiter else { return true }
        let end = DispatchTime.now() + .nanoseconds(Int(clamping: limit.wholeNanoseconds))
        if waiter.semaphore.wait(timeout: end) == .success { return true }
        return state.withLock { state in
            // One that is no longer in the list was given a turn at the last moment.
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return true }
            state.waiters.remove(at: index)
            return false
        }
    }

    /// How many wait.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Gives a turn back.
    func give() {
        state.withLock { state in
            guard let next = state.waiters.indices.min(by: { state.waiters[$0].rank < state.waiters[$1].rank }) else {
                state.free += 1
                return
            }
            state.waiters.remove(at: next).semaphore.signal()
        }
    }
}
