import InletCore
import Testing

@testable import InletCapture

@Suite struct RetryPolicyTests {
    @Test("A server that wants to be left alone is, before the delay, and up to the longest one")
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
        // Full jitter alone could be nothing.
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
