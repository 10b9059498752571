internal import InletCore

/// Estimates the time from picture to picture by the arrival of packets with a new timestamp.
struct UnitSpacing: Sendable {
    private var timestamp: UInt32?
    private var lastChange: MonotonicTime?
    /// The estimate in nanoseconds: a `Duration` has 128 bits, which are slow to divide.
    private var nanoseconds: Int64?
    /// The estimate; nil until two pictures have begun.
    var interval: Duration? { nanoseconds.map { .nanoseconds($0) } }

    private static let longestStep: Int64 = 1_000_000_000

    /// Records a packet that came in order.
    mutating func note(timestamp: UInt32, arrival: MonotonicTime) {
        guard timestamp != self.timestamp else { return }
        self.timestamp = timestamp
        defer { lastChange = arrival }
        guard let lastChange, arrival > lastChange else { return }
        let (passed, overflow) = arrival.nanoseconds.subtractingReportingOverflow(lastChange.nanoseconds)
        let step = overflow ? Self.longestStep : min(passed, Self.longestStep)
        nanoseconds = nanoseconds.map { $0 + (step - $0) / 8 } ?? step
    }
}
