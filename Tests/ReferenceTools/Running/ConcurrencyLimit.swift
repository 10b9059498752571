import Synchronization
public import Testing

/// A trait that limits how many tests of its suites run at the same time.
///
/// For tests that mostly wait and each start a server: one after another they would take the sum of all waits, and all
/// at once would start hundreds of servers. A test with ``RunsAlone`` runs while no other test of the same limit runs.
/// Tests may block, because each runs on a separate thread (``BlockingTrait``). Limit the time of a test with
/// ``RunningTimeLimit``: `.timeLimit` would also count the time until a test starts.
public struct ConcurrencyLimit: SuiteTrait, TestTrait, TestScoping {
    private let count: Int
    private let slots: Slots

    /// - Parameter count: the number of test cases that run at a time.
    init(_ count: Int) {
        self.count = count
        slots = Slots(count)
    }

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Only test cases take slots; suites and whole tests contain test cases.
        guard testCase != nil else { return try await function() }
        let taken = test.traits.contains { $0 is RunsAlone } ? count : 1
        await slots.take(taken)
        defer { slots.give(taken) }
        let limit = test.traits.lazy.compactMap { $0 as? RunningTimeLimit }.last
        try await withTaskExecutorPreference(BlockingExecutor.shared) {
            if let limit { try await limit.hold(function) } else { try await function() }
        }
    }

    /// The free slots and the queue of waiting test cases.
    private final class Slots: Sendable {
        private struct State {
            var free: Int
            var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

            /// Removes and returns the test cases that can start.
            mutating func next() -> [CheckedContinuation<Void, Never>] {
                var ready: [CheckedContinuation<Void, Never>] = []
                while let first = waiting.first, first.count <= free {
                    free -= first.count
                    ready.append(first.continuation)
                    waiting.removeFirst()
                }
                return ready
            }
        }

        private let state: Mutex<State>

        init(_ count: Int) { state = Mutex(State(free: count)) }

        func take(_ count: Int) async {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state in
                    state.waiting.append((count, continuation))
                    return state.next()
                }
                for each in ready { each.resume() }
            }
        }

        func give(_ count: Int) {
            let ready = state.withLock { state in
                state.free += count
                return state.next()
            }
            for each in ready { each.resume() }
        }
    }
}

private let fewServers = ConcurrencyLimit(3)
private let fewDaemonsAtATime = ConcurrencyLimit(2)

extension Trait where Self == ConcurrencyLimit {
    /// At most three test cases of the suite run at a time: CI has two cores, and a test mostly waits.
    public static var fewAtATime: ConcurrencyLimit { fewServers }

    /// At most two test cases of the suite run at a time, in addition to those of ``fewAtATime``. Each runs a daemon,
    /// which mostly waits, and its clients.
    public static var fewDaemons: ConcurrencyLimit { fewDaemonsAtATime }
}
