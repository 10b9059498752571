#if GStreamer
import InletCore
import ReferenceTools
import Synchronization
import Testing

@testable import KinesisPlugin

/// The shared result for several callers at once of one operation, such as the renewal of a single sign-on.
@Suite(.tags(.python), .timeLimit(.minutes(5))) struct SharedOutcomesTests {
    @Test("Three chains at once with one expired token renew it once, and all get credentials")
    func chainsAtOnce() async throws {
        let service = try KinesisService()
        defer { service.stop() }
        let folder = try TemporaryFolder()
        let home = try SingleSignOnTests.home(folder)
        let environment = SingleSignOnTests.environment(home, service.endpoint)
        try service.process.send(
            "sign on",
            [
                "home": .string(home), "start": .string(SingleSignOnTests.start), "seconds": -60,
                "format": "%Y-%m-%dT%H:%M:%SZ", "session": "my-sso", "renewal": .object(SignOnRenewalTests.renewal),
            ])
        // A second post of the same refresh token is refused before the first one has its answer.
        try service.process.send("delay", ["seconds": 0.5])
        let outcomes = await withTaskGroup(of: Result<String, InletError>.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    do throws(InletError) {
                        let chain = AWSCredentialsChain(profile: "session", environment: environment)
                        return .success(try await chain.find().credentials.accessKeyID)
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.map { try? $0.get() } == ["ASIATEST", "ASIATEST", "ASIATEST"], "\(outcomes)")
        guard case .list(let requests)? = try service.process.send("state")["requests"] else {
            Issue.record("no requests")
            return
        }
        #expect(requests.map(\.text).filter { $0 == "CreateToken" }.count == 1, "\(requests)")
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
