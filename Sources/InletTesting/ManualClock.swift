public import InletCore
import Synchronization

/// A clock whose time moves only when it is told to, so that tests of time neither wait nor depend on the machine's
/// load.
///
/// Safe from any thread. Time starts at one second, so that times before the start can be written, too.
public final class ManualClock: CaptureClock {
    /// What a wait does.
    public enum Waiting: Sendable {
        /// It blocks until ``ManualClock/advance(by:)`` has brought the clock to its deadline. The default.
        case blocks
        /// It moves the clock to its deadline and returns at once: for code that paces itself on one thread.
        case movesTime
    }

    private struct State {
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        var sleepers: [Sleeper] = []
        var observers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    /// One blocked wait.
    private struct Sleeper {
        let deadline: MonotonicTime
        let signal: DescriptorSignal
    }

    private let state = Mutex(State())
    private let waiting: Waiting

    public init(waiting: Waiting = .blocks) { self.waiting = waiting }

    /// The time that the test has set.
    public var now: MonotonicTime { state.withLock { $0.now } }

    /// Moves the time forward and lets go of those whose deadline it reaches.
    ///
    /// - Precondition: `duration` is not negative.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "a clock does not go back")
        let woken = state.withLock { state in
            state.now = state.now + duration
            return state.sleepers.filter { $0.deadline <= state.now }
        }
        for sleeper in woken { sleeper.signal.raise() }
    }

    /// Lets go of every blocked wait although its deadline has not come, as a wake-up descriptor would.
    public func wakeAll() {
        for sleeper in state.withLock({ $0.sleepers }) { sleeper.signal.raise() }
    }

    /// How many threads are blocked in ``wait(until:wakeUpDescriptor:)`` now.
    public var waiterCount: Int { state.withLock { $0.sleepers.count } }

    /// Suspends until at least `count` threads are blocked in ``wait(until:wakeUpDescriptor:)``.
    public func waiters(atLeast count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.observers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits for the test to move the time, or moves it, by the mode.
    public func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool {
        if waiting == .movesTime {
            state.withLock { $0.now = max($0.now, deadline) }
            return true
        }
        let signal = DescriptorSignal()
        let observers: [CheckedContinuation<Void, Never>]? = state.withLock { state in
            if state.now >= deadline { return nil }
            state.sleepers.append(Sleeper(deadline: deadline, signal: signal))
            let count = state.sleepers.count
            let satisfied = state.observers.filter { $0.count <= count }
            state.observers.removeAll { $0.count <= count }
            return satisfied.map(\.continuation)
        }
        guard let observers else { return true }
        for observer in observers { observer.resume() }
        signal.wait(or: wakeUpDescriptor)
        return state.withLock { state in
            state.sleepers.removeAll { $0.signal === signal }
            return state.now >= deadline
        }
    }
}
