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

/// Limits how many live streams decode at once to about the number of processors, the most urgent first.
///
/// If there were more streams than processors can decode, the system's scheduler would share the time equally, and all
/// would be late. With turns, those that are served are served in time.
final class DecodingTurns: Sendable {
    /// The turns of the process: all its captures share the processors. One more than there are processors, so that
    /// none is idle while a turn changes hands.
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

    /// - Parameter count: the number of turns.
    init(count: Int) { state = Mutex(State(free: count)) }

    /// Waits for a turn. A caller that got one returns it with ``give()``.
    ///
    /// - Parameters:
    ///   - rank: of those that wait, the one with the least rank is next.
    ///   - limit: the longest wait. A decoder that hangs must not stop all others.
    /// - Returns: whether a turn was granted in time.
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
            // One that is no longer in the list was granted a turn at the last moment.
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return true }
            state.waiters.remove(at: index)
            return false
        }
    }

    /// The number of waiting callers.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Returns a turn.
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
