/// How long the operation that a source runs may still take: decides, without a clock or a lock.
///
/// Two limits run at once. The source may be quiet for so long, which begins anew whenever data comes; and the
/// operation may take so long in all, however much data comes. An operation that waits for a frame gets more time in
/// all where sinks want few frames: a source that keeps back what nobody wants is no source that hangs.
package struct OperationLimits: Sendable {
    /// How long an operation may take.
    package struct Allowance: Sendable {
        /// Without any data.
        package var silence: Duration
        /// In all.
        package var total: Duration
        /// Whether the whole is put off as far as the sinks' demand puts off the next frame.
        package var followsDemand: Bool

        package init(silence: Duration, total: Duration, followsDemand: Bool = false) {
            self.silence = silence
            self.total = total
            self.followsDemand = followsDemand
        }
    }

    private var allowance: Allowance?
    private var beginning = MonotonicTime.distantFuture
    /// When data came last, or the operation began. Nil while none runs that has a limit.
    package private(set) var quietSince: MonotonicTime?
    /// How long sinks can do without a frame.
    private var demandAllowance = Duration.zero

    /// A source is late when it has left out so many of the frames that are wanted.
    private static let framesMissed = 3

    package init() {}

    /// The operation that runs; nil while none runs that has a limit.
    package var operation: SourceOperation? {
        quietSince.map { SourceOperation(deadline: deadline, quietSince: $0) }
    }

    /// When the operation should have ended; `.distantFuture` where it has no limit, or none runs.
    package var deadline: MonotonicTime {
        guard let allowance, let quietSince else { return .distantFuture }
        let total = allowance.followsDemand ? max(allowance.total, demandAllowance) : allowance.total
        return min(quietSince + allowance.silence, beginning + total)
    }

    /// An operation begins.
    package mutating func begin(_ allowance: Allowance, at now: MonotonicTime) {
        self.allowance = allowance
        (beginning, quietSince) = (now, now)
    }

    /// The operation has ended.
    package mutating func end() { (allowance, quietSince) = (nil, nil) }

    /// Data has come.
    package mutating func noteProgress(at now: MonotonicTime) {
        guard let quietSince else { return }
        self.quietSince = max(quietSince, now)
    }

    /// The source sleeps on purpose, for so long.
    package mutating func postpone(by time: Duration) {
        guard let quietSince else { return }
        self.quietSince = quietSince + time
        beginning = beginning + time
    }

    /// The operation has no limit until ``resume(at:)``.
    package mutating func suspend() { quietSince = nil }

    /// The operation gets its whole time anew.
    package mutating func resume(at now: MonotonicTime) {
        guard let allowance else { return }
        begin(allowance, at: now)
    }

    /// Sinks want no more frames a second than this; nil is all that there are. What waits for a frame gets its whole
    /// time anew.
    package mutating func follow(_ rate: Rational?, at now: MonotonicTime) {
        let interval = rate?.reciprocal.map { MediaTime(ticks: 1, timeBase: $0).nanoseconds } ?? 0
        demandAllowance = .nanoseconds(max(0, interval)) * Self.framesMissed
        if allowance?.followsDemand == true, quietSince != nil { beginning = now }
    }
}
