import Synchronization

/// Hands each element to all listeners, each through a separate sequence. One that is not read keeps the newest
/// elements and loses the oldest, so memory is bounded. Safe from any thread.
package final class Broadcaster<Element: Sendable>: Sendable {
    private struct State {
        var next = 0
        var continuations: [Int: AsyncStream<Element>.Continuation] = [:]
        var isFinished = false
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: how many elements are buffered for a listener that does not read.
    package init(limit: Int) { self.limit = limit }

    /// - Parameter first: returns the first elements, and is called once no later element can be missed; nil to start
    ///   with the next element.
    package func stream(beginningWith first: (() -> [Element])? = nil) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(limit))
        let (number, isFinished) = state.withLock { state in
            state.next += 1
            if !state.isFinished { state.continuations[state.next] = continuation }
            return (state.next, state.isFinished)
        }
        for element in first?() ?? [] { continuation.yield(element) }
        if isFinished { continuation.finish() }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: number) }
        }
        return stream
    }

    /// Ends all sequences, including those that are requested later.
    package func finish() {
        let continuations = state.withLock { state in
            state.isFinished = true
            defer { state.continuations = [:] }
            return Array(state.continuations.values)
        }
        for continuation in continuations { continuation.finish() }
    }

    /// Hands an element to all current listeners.
    package func send(_ element: Element) {
        // Copied, because a sequence that ends calls back.
        for continuation in state.withLock({ Array($0.continuations.values) }) { continuation.yield(element) }
    }
}
