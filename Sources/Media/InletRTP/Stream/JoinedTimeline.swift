package import InletCore

/// Places the units of successive streams, whose times are unrelated, on one timeline: each stream continues where the
/// previous one was, by the time that passed between their arrivals.
package struct JoinedTimeline: Sendable {
    private let timeBase: Rational
    /// The time and the arrival of the last unit; nil before the first.
    private var last: (ticks: Int64, arrival: MonotonicTime)?
    /// The offset added to the times of the current stream.
    private var offset: Int64 = 0
    /// Whether the next unit is the first of another stream.
    package private(set) var beginsStream = false

    /// - Parameter timeBase: the length in seconds of one tick.
    package init(timeBase: Rational) { self.timeBase = timeBase }

    /// Records that the units from now on are of another stream. Does nothing before the first unit.
    package mutating func beginStream() { beginsStream = last != nil }

    /// Returns the time of a unit, in ticks, and whether it is the first of another stream than the previous one.
    ///
    /// - Parameters:
    ///   - ticks: its time in its own stream.
    ///   - arrival: when it had arrived.
    package mutating func place(_ ticks: Int64, arrival: MonotonicTime) -> (ticks: Int64, isFirst: Bool) {
        defer { beginsStream = false }
        if beginsStream, let last {
            let passed = MediaTime(
                ticks: max(0, (arrival - last.arrival).wholeNanoseconds), timeBase: Rational(1, 1_000_000_000)
            ).rescaled(to: timeBase).ticks
            offset = last.ticks &+ max(1, passed) &- ticks
        }
        let placed = ticks &+ offset
        last = (max(placed, last?.ticks ?? placed), arrival)
        return (placed, beginsStream)
    }
}
