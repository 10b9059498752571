public import Testing

/// A trait of suites with a ``ConcurrencyLimit``, and of their tests: how long a test case may take from when it has
/// its turn. Without such a limit it has no effect. Of several the innermost counts.
public struct RunningTimeLimit: SuiteTrait, TestTrait {
    private let limit: Duration

    init(_ limit: Duration) { self.limit = limit }

    public var isRecursive: Bool { true }

    /// Runs a test case, which is cancelled once it has taken too long: that is an issue.
    func hold(_ function: @Sendable () async throws -> Void) async throws {
        try await withoutActuallyEscaping(function) { function in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await function() }
                group.addTask {
                    // Cancelled where the test case has ended.
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
    /// The test may take so many minutes, from when it has its turn.
    public static func takes(atMostMinutes minutes: Int) -> RunningTimeLimit {
        RunningTimeLimit(.seconds(60 * minutes))
    }
}
