/// Decides how long the operation that a source is running may still take, without a clock or a lock.
///
/// Two limits run at once. The first bounds the time without data, and restarts whenever data arrives; the other bounds
/// the whole operation, however much data arrives. An operation that waits for a frame gets more total time if sinks
/// want few frames: a source that withholds unwanted frames does not hang.
package struct OperationLimits: Sendable {
    /// The time that an operation may take.
    package struct Allowance: Sendable {
        /// The longest time without any data.
        package var silence: Duration
        /// The longest total time.
        package var total: Duration
        /// Whether the total is extended if the sinks' demand delays the next frame.
        package var followsDemand: Bool

        package init(silence: Duration, total: Duration, followsDemand: Bool = false) {
            self.silence = silence
            self.total = total
            self.followsDemand = followsDemand
        }
    }

    private var allowance: Allowance?
    /// The times of the allowance in nanoseconds: the deadline is computed each time that data arrives.
    private var limits: (silence: Int64, total: Int64) = (0, 0)
    private var beginning = MonotonicTime.distantFuture
    /// The time at which data last arrived, or the operation began; nil while no operation with a limit runs.
    package private(set) var quietSince: MonotonicTime?
    /// The time for which sinks can do without a frame, in nanoseconds.
    private var demandAllowance: Int64 = 0

    /// The number of missed wanted frames after which a source is late.
    private static let framesMissed: Int64 = 3

    package init() {}

    /// The current operation; nil while no operation with a limit runs.
    package var operation: SourceOperation? {
        quietSince.map { SourceOperation(deadline: deadline, quietSince: $0) }
    }

    /// The time at which the operation should have ended; `.distantFuture` if it has no limit, or none runs.
    package var deadline: MonotonicTime {
        guard let allowance, let quietSince else { return .distantFuture }
        let total = allowance.followsDemand ? max(limits.total, demandAllowance) : limits.total
        func time(_ start: MonotonicTime, _ length: Int64) -> MonotonicTime {
            let (sum, overflow) = start.nanoseconds.addingReportingOverflow(length)
            return MonotonicTime(nanoseconds: overflow ? (length < 0 ? .min : .max) : sum)
        }
        return min(time(quietSince, limits.silence), time(beginning, total))
    }

    /// Starts an operation.
    package mutating func begin(_ allowance: Allowance, at now: MonotonicTime) {
        self.allowance = allowance
        limits = (allowance.silence.wholeNanoseconds, allowance.total.wholeNanoseconds)
        (beginning, quietSince) = (now, now)
    }

    /// Ends the operation.
    package mutating func end() { (allowance, quietSince) = (nil, nil) }

    /// Records that data has arrived.
    package mutating func noteProgress(at now: MonotonicTime) {
        guard let quietSince else { return }
        self.quietSince = max(quietSince, now)
    }

    /// Extends the limits because the source sleeps on purpose, for the given time.
    package mutating func postpone(by time: Duration) {
        guard let quietSince else { return }
        self.quietSince = quietSince + time
        beginning = beginning + time
    }

    /// Suspends the limits until ``resume(at:)``.
    package mutating func suspend() { quietSince = nil }

    /// Restarts the operation's limits.
    package mutating func resume(at now: MonotonicTime) {
        guard let allowance else { return }
        begin(allowance, at: now)
    }

    /// Sets the most frames a second that sinks want; nil for all. An operation that waits for a frame gets its whole
    /// time again.
    package mutating func follow(_ rate: Rational?, at now: MonotonicTime) {
        let interval = rate?.reciprocal.map { MediaTime(ticks: 1, timeBase: $0).nanoseconds } ?? 0
        let (missed, overflow) = max(0, interval).multipliedReportingOverflow(by: Self.framesMissed)
        demandAllowance = overflow ? .max : missed
        if allowance?.followsDemand == true, quietSince != nil { beginning = now }
    }
}
