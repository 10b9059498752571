import InletCore
import Testing

@testable import InletCapture

@Suite struct RetryPolicyTests {
    @Test("Refused credentials are final until frames have arrived with them, and then retried at growing intervals")
    func refusals() {
        let refused = InletError(.authenticationFailed, "")
        var policy = RetryPolicy()
        #expect(!policy.retries(after: refused, failures: 1, wasLive: false))
        #expect(policy.retries(after: refused, failures: 1, wasLive: true))
        #expect(!policy.retries(after: InletError(.declined, ""), failures: 1, wasLive: true))
        for (count, seconds) in [(1, 30), (2, 120), (3, 480), (4, 1800), (5, 1800), (1000, 1800)] {
            #expect(policy.delay(afterRefusals: count) == .seconds(seconds))
        }
        policy.refusedDelay = nil
        #expect(!policy.retries(after: refused, failures: 1, wasLive: true))
        policy.refusedDelay = .seconds(30)
        policy.limit = 0
        #expect(!policy.retries(after: refused, failures: 1, wasLive: true))
        (policy.refusedDelay, policy.maximumRefusedDelay) = (.seconds(Int64.max), .seconds(Int64.max))
        #expect(policy.delay(afterRefusals: .max) >= .seconds(1800))
    }

    @Test("A temporary failure ends the run at the first opening, unless the policy retries that, too")
    func firstOpening() {
        var policy = RetryPolicy()
        for code in RetryPolicy.permanentUntilLive {
            policy.retriesFirstOpening = false
            #expect(!policy.retries(after: InletError(code, ""), failures: 1, wasLive: false))
            policy.retriesFirstOpening = true
            #expect(policy.retries(after: InletError(code, ""), failures: 1, wasLive: false))
        }
        #expect(!policy.retries(after: InletError(.authenticationFailed, ""), failures: 1, wasLive: false))
    }

    @Test("A server's requested wait is respected, before the delay, and up to the longest one")
    func retryAfter() {
        var policy = RetryPolicy()
        var generator = SystemRandomNumberGenerator()
        func delay(_ error: InletError, _ failures: Int) -> Duration {
            policy.delay(after: error, failures: failures, using: &generator)
        }
        var busy = InletError(.noBandwidth, "")
        policy.hasFullJitter = false
        for (retryAfter, failures, expected) in [
            (nil, 1, .milliseconds(500)), (nil, 3, .seconds(2)), (.zero, 1, .milliseconds(500)),
            (.seconds(-3), 1, .milliseconds(500)), (.seconds(2), 1, .milliseconds(2500)),
            (.seconds(2), 3, .seconds(4)), (.seconds(2), 100, .seconds(10)), (.seconds(3600), 1, .seconds(10)),
        ] as [(Duration?, Int, Duration)] {
            busy.retryAfter = retryAfter
            #expect(delay(busy, failures) == expected)
        }
        // Full jitter could give a wait of zero.
        policy.hasFullJitter = true
        busy.retryAfter = .seconds(2)
        for _ in 0..<1000 { #expect((.seconds(2) ... .milliseconds(2500)).contains(delay(busy, 1))) }
        policy.maximumDelay = .milliseconds(20)
        #expect(delay(busy, 1) == .milliseconds(20))
        policy.maximumDelay = .seconds(Int64.max)
        policy.firstDelay = .seconds(Int64.max)
        busy.retryAfter = .seconds(Int64.max)
        #expect(delay(busy, 1000) >= .seconds(Int64.max))
    }
}
