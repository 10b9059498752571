import InletCore

/// Credentials that are refused although frames have come with them.
extension CapturerStateMachine {
    /// Refusals since frames last arrived.
    struct Refusals {
        var count = 0
        /// The earliest time of the next attempt. Neither a viewer nor the end of a pause makes it earlier.
        var until: MonotonicTime?
    }

    /// Returns how long to wait after a failure.
    mutating func delay(after error: InletError, _ now: MonotonicTime) -> Duration {
        guard policy.retry.isRefusal(error) else {
            return policy.retry.delay(after: error, failures: failures, using: &random)
        }
        refusals.count += 1
        // A server may request a longer wait, but not an endless one.
        let asked = min(error.retryAfter ?? .zero, policy.retry.maximumRefusedDelay)
        let delay = max(policy.retry.delay(afterRefusals: refusals.count), asked)
        refusals.until = now + delay
        return delay
    }

    /// Opens a session, or waits until refused credentials may be tried again: neither a viewer nor the end of a pause
    /// may make a camera lock the account.
    mutating func openUnlessRefused(_ now: MonotonicTime, _ actions: inout [Action]) {
        guard let until = refusals.until, until > now else { return openSession(&actions) }
        phase = .waiting(until: until, delay: until - now)
    }
}
