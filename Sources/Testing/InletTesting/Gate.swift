import Dispatch
import Synchronization

/// A gate at which threads wait while it is closed. Holds a sink back for as long as a test needs. Safe from any
/// thread.
public final class Gate: Sendable {
    private struct State {
        var isOpen: Bool
        var blocked: [DispatchSemaphore] = []
        var observers: [CheckedContinuation<Void, Never>] = []
    }
    private let state: Mutex<State>

    /// Makes a gate. It is closed by default.
    public init(isOpen: Bool = false) { state = Mutex(State(isOpen: isOpen)) }

    /// Lets all threads through from now on.
    public func open() {
        let blocked = state.withLock { state in
            state.isOpen = true
            defer { state.blocked = [] }
            return state.blocked
        }
        for semaphore in blocked { semaphore.signal() }
    }

    /// Stops all threads that arrive from now on.
    public func close() { state.withLock { $0.isOpen = false } }

    /// Lets the waiting threads through, and stops those that arrive later.
    public func letThrough() {
        let blocked = state.withLock { state in
            defer { state.blocked = [] }
            return state.blocked
        }
        for semaphore in blocked { semaphore.signal() }
    }

    /// Blocks the calling thread while the gate is closed.
    public func pass() {
        let semaphore = DispatchSemaphore(value: 0)
        let observers: [CheckedContinuation<Void, Never>]? = state.withLock { state in
            if state.isOpen { return nil }
            state.blocked.append(semaphore)
            defer { state.observers = [] }
            return state.observers
        }
        guard let observers else { return }
        for observer in observers { observer.resume() }
        semaphore.wait()
    }

    /// Suspends until a thread waits at the gate.
    public func someoneWaits() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if !state.blocked.isEmpty { return true }
                state.observers.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
