import InletCore

/// Detects a stream that has more frames a second than allowed.
struct RateAudit {
    private let most: Rational
    private let timeBase: Rational
    private var begin: (ticks: Int64?, arrival: MonotonicTime)?
    private var count = 0

    /// Packets examined together: more than a connection holds back in a stall and releases at once.
    private static let window = 512

    init(most: Rational, timeBase: Rational) {
        self.most = most
        self.timeBase = timeBase
    }

    /// Restarts, when the stream's time does.
    mutating func reset() { (begin, count) = (nil, 0) }

    /// Records the next packet, with its time in ticks if it has one.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if the last packets were too many for the time they cover.
    mutating func note(_ ticks: Int64?, arrival: MonotonicTime) throws(InletError) {
        defer { count += 1 }
        guard let begin else {
            begin = (ticks, arrival)
            return
        }
        guard count >= Self.window else { return }
        // The stream's own time, because packets may arrive in bursts. The time of arrival if the stream has no time or
        // its time does not advance.
        let own = ticks.flatMap { now in begin.ticks.map { now.subtractingReportingOverflow($0).partialValue } } ?? 0
        let span =
            own > 0 ? MediaTime(ticks: own, timeBase: timeBase).nanoseconds : (arrival - begin.arrival).wholeNanoseconds
        let rate = Double(count) * 1e9 / Double(max(1, span))
        self.begin = (ticks, arrival)
        count = 0
        guard rate > most.doubleValue else { return }
        throw InletError(
            .unsupported,
            "The stream has more frames a second than are taken in: at most \(most), and these came at \(Int(min(rate, 1e9))). max-fps raises the limit."
        )
    }
}
