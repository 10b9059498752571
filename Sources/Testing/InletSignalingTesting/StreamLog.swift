import InletCore
import Synchronization

/// Keeps the elements of a stream, and waits for those that a check expects.
final class StreamLog<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var hasEnded = false
        var waiting: [Int: @Sendable ([Element], Bool) -> Bool] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let reading = Mutex<Task<Void, Never>?>(nil)

    init(_ stream: AsyncStream<Element>) {
        let task = Task { [weak self] in
            for await element in stream {
                guard let self else { return }
                state.withLock { $0.elements.append(element) }
                look()
            }
            self?.state.withLock { $0.hasEnded = true }
            self?.look()
        }
        reading.withLock { $0 = task }
    }

    deinit { reading.withLock { $0 }?.cancel() }

    var elements: [Element] { state.withLock { $0.elements } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Returns whether a condition is met within a time. Its arguments are the elements so far, and whether the stream
    /// has ended.
    func waits(
        _ limit: Duration, until condition: @escaping @Sendable (_ elements: [Element], _ hasEnded: Bool) -> Bool
    ) async -> Bool {
        let (met, meet) = AsyncStream.makeStream(of: Bool.self)
        let number = state.withLock { state in
            state.count += 1
            state.waiting[state.count] = { elements, hasEnded in
                guard condition(elements, hasEnded) else { return false }
                meet.yield(true)
                meet.finish()
                return true
            }
            return state.count
        }
        look()
        let late = Task {
            try? await Task.sleep(for: limit)
            meet.finish()
        }
        defer {
            late.cancel()
            _ = state.withLock { $0.waiting.removeValue(forKey: number) }
        }
        for await result in met { return result }
        return false
    }

    private func look() {
        state.withLock { state in
            for (number, check) in state.waiting where check(state.elements, state.hasEnded) {
                state.waiting[number] = nil
            }
        }
    }
}
