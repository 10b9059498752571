public import Testing

/// A trait of suites with a ``ConcurrencyLimit`` and their tests: the maximum time of a test case, counted from its
/// start. It has no effect without such a limit. If there are several, the innermost applies.
public struct RunningTimeLimit: SuiteTrait, TestTrait {
    private let limit: Duration

    init(_ limit: Duration) { self.limit = limit }

    public var isRecursive: Bool { true }

    /// Runs a test case. If it takes too long, it is cancelled and an issue is recorded.
    func hold(_ function: @Sendable () async throws -> Void) async throws {
        try await withoutActuallyEscaping(function) { function in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await function() }
                group.addTask {
                    // The sleep is cancelled if the test case has ended.
                    guard (try? await Task.sleep(for: limit)) != nil else { return }
                    Issue.record("the test took longer than \(limit)")
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}

extension Trait where Self == RunningTimeLimit {
    /// The test may run for this number of minutes, counted from its start.
    public static func takes(atMostMinutes minutes: Int) -> RunningTimeLimit {
        RunningTimeLimit(.seconds(60 * minutes))
    }
}
