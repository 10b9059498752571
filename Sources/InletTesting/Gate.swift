import Dispatch
import Synchronization

/// A door that threads stop at while it is closed: holds a sink back for as long as a test wants. Safe from any thread.
public final class Gate: Sendable {
    private struct State {
        var isOpen: Bool
        var blocked: [DispatchSemaphore] = []
        var observers: [CheckedContinuation<Void, Never>] = []
    }
    private let state: Mutex<State>

    /// The default is closed.
    public init(isOpen: Bool = false) { state = Mutex(State(isOpen: isOpen)) }

    /// Lets everyone through from now on.
    public func open() {
        let blocked = state.withLock { state in
            state.isOpen = true
            defer { state.blocked = [] }
            return state.blocked
        }
        for semaphore in blocked { semaphore.signal() }
    }

    /// Stops whoever comes from now on.
    public func close() { state.withLock { $0.isOpen = false } }

    /// Lets the threads that stand here now through, and stops those that come later.
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

    /// Suspends until a thread stands at the gate.
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
