import Testing

@testable import ReferenceTools

@Suite struct RunningTimeLimitTests {
    @Test("A test that takes too long records an issue, and is cancelled")
    func tooLong() async throws {
        try await confirmation("the cancellation") { cancelled in
            // Fails unless this issue, and no other, is recorded.
            try await withKnownIssue {
                try await RunningTimeLimit(.milliseconds(10)).hold {
                    do { try await Task.sleep(for: .seconds(3600)) } catch { cancelled() }
                }
            } matching: {
                $0.comments.contains { $0.rawValue.contains("took longer than 0.01 seconds") }
            }
        }
    }

    @Test("An error that a test throws in time is rethrown, and no issue is recorded")
    func inTime() async throws {
        struct Failure: Error {}
        let limit = RunningTimeLimit(.seconds(3600))
        try await limit.hold {}
        await #expect(throws: Failure.self) { try await limit.hold { throw Failure() } }
    }
}
