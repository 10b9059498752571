package import InletCore

/// Limits how fast clients are admitted: a burst at once, then so many a second. Holds no clock.
package struct AdmissionRate: Sendable {
    private let perSecond: Double
    private let burst: Double
    private var credit: Double
    private var last: MonotonicTime?

    /// - Parameters:
    ///   - perSecond: clients a second in the long run, greater than zero.
    ///   - burst: clients at once, at least one.
    package init(perSecond: Double, burst: Int) {
        self.perSecond = max(perSecond, 1e-6)
        self.burst = Double(max(1, burst))
        credit = Double(max(1, burst))
    }

    /// Returns the time until the next client is admitted; nil if one is admitted now.
    package mutating func wait(at now: MonotonicTime) -> Duration? {
        if let last, now > last {
            credit = min(burst, credit + Double((now - last).wholeNanoseconds) / 1e9 * perSecond)
        }
        last = max(last ?? now, now)
        return credit >= 1 ? nil : .nanoseconds(Int64(((1 - credit) / perSecond * 1e9).rounded(.up)))
    }

    /// Counts a client that was admitted.
    package mutating func admit() { credit = max(0, credit - 1) }
}
