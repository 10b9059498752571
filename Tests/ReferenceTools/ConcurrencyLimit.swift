import Synchronization
public import Testing

/// A trait of suites whose tests run side by side, of which only a few run at any time.
///
/// For tests that wait more than they compute, each with a server of its own: one after another they would take the sum
/// of all waits, and all at once would start hundreds of servers. Tests with ``RunsAlone`` run while no other of the
/// same limit does. They may block, as they run on threads of their own (``BlockingTrait``). How long one may take is
/// said by ``RunningTimeLimit``: the time of `.timeLimit` goes on while a test waits for its turn.
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
        // Suites and tests as a whole are the scopes of others, which take the slots.
        guard testCase != nil else { return try await function() }
        let taken = test.traits.contains { $0 is RunsAlone } ? count : 1
        await slots.take(taken)
        defer { slots.give(taken) }
        let limit = test.traits.lazy.compactMap { $0 as? RunningTimeLimit }.last
        try await withTaskExecutorPreference(BlockingExecutor.shared) {
            if let limit { try await limit.hold(function) } else { try await function() }
        }
    }

    /// The slots, and who waits for some, in the order in which they came.
    private final class Slots: Sendable {
        private struct State {
            var free: Int
            var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

            /// Removes those that can go on.
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
    /// At most three test cases of the suite run at a time: CI has two cores, and most of the time a test waits.
    public static var fewAtATime: ConcurrencyLimit { fewServers }

    /// At most two test cases of the suite run at a time, beside those of ``fewAtATime``: each has a daemon, which
    /// mostly waits, and programs that ask it.
    public static var fewDaemons: ConcurrencyLimit { fewDaemonsAtATime }
}
