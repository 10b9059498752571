import Synchronization

/// A value that is set once, from any thread, and awaited by any number of tasks and closures.
package final class Completion<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var observers: [@Sendable (Value) -> Void] = []
    }
    private let state = Mutex(State())

    /// Makes one without a value.
    package init() {}

    /// Returns a completion that already has its value.
    package static func resolved(_ value: Value) -> Completion {
        let completion = Completion()
        completion.resolve(value)
        return completion
    }

    /// Sets the value. Only the first call counts.
    package func resolve(_ value: Value) {
        let observers = state.withLock { state -> [@Sendable (Value) -> Void] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer(value) }
    }

    /// Calls `observer` once: at once if the value is known, otherwise on the thread that sets it.
    package func observe(_ observer: @escaping @Sendable (Value) -> Void) {
        let known = state.withLock { state in
            if state.value == nil { state.observers.append(observer) }
            return state.value
        }
        if let known { observer(known) }
    }

    /// Waits for the value.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in observe { continuation.resume(returning: $0) } }
    }
}
