#if GStreamer
import InletCore
import ReferenceTools
import Synchronization
import Testing

@testable import KinesisPlugin

/// The shared result for several callers at once of one operation, such as a program for credentials.
@Suite(.timeLimit(.minutes(5))) struct SharedOutcomesTests {
    @Test("Concurrent searches by the same program run it once and get the same credentials")
    func one() async throws {
        let runs = Mutex(0)
        let (gate, opening) = AsyncStream<Void>.makeStream()
        var environment = KinesisService.environment(
            [:], files: ["/home/nobody/.aws/config": "[default]\ncredential_process = a b"])
        environment.program = { (words, _) async throws(InletError) in
            for await _ in gate {}
            runs.withLock { $0 += 1 }
            return "{\"Version\":1,\"AccessKeyId\":\"\(words.joined(separator: "+"))\",\"SecretAccessKey\":\"s\"}"
        }
        let chain = AWSCredentialsChain(environment: environment)
        let searches = (0..<3).map { _ in Task { try await chain.find().credentials.accessKeyID } }
        let outcomes = environment.programOutcomes
        await Waiting.until { outcomes.waiting >= 3 }
        opening.finish()
        for search in searches { #expect(try await search.value == "a+b") }
        #expect(runs.withLock { $0 } == 1)
    }

    @Test("A cancelled caller leaves at once, and the renewal continues for the others", arguments: [0, 1])
    func cancellation(cancelled: Int) async throws {
        let outcomes = SharedOutcomes<Int>()
        let runs = Mutex(0)
        let (gate, opening) = AsyncStream<Void>.makeStream()
        @Sendable func call() async throws(InletError) -> Int {
            try await outcomes.outcome(of: "file") { () async throws(InletError) in
                for await _ in gate {}
                return runs.withLock { runs in
                    runs += 1
                    return Task.isCancelled ? -1 : runs
                }
            }
        }
        let callers = (0..<2).map { _ in Task { @Sendable in try await call() } }
        await Waiting.until { outcomes.waiting >= 2 }
        callers[cancelled].cancel()
        await #expect(throws: InletError.self) { try await callers[cancelled].value }
        #expect(outcomes.waiting == 1)
        opening.finish()
        #expect(try await callers[1 - cancelled].value == 1)
        // Nothing is kept: a later caller repeats it, unless cancelled before.
        #expect(try await outcomes.outcome(of: "file") { runs.withLock { $0 + 1 } } == 2)
        let late = Task { @Sendable in
            try? await Task.sleep(for: .seconds(600))
            return try await outcomes.outcome(of: "file") { 7 }
        }
        late.cancel()
        await #expect(throws: InletError.self) { try await late.value }
        #expect(outcomes.waiting == 0)
    }
}
#endif
