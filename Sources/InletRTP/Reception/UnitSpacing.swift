internal import InletCore

/// Estimates the time from picture to picture by the arrival of packets with a new timestamp.
struct UnitSpacing: Sendable {
    private var timestamp: UInt32?
    private var lastChange: MonotonicTime?
    /// The estimate; nil until two pictures have begun.
    private(set) var interval: Duration?

    /// Notes a packet that came in order.
    mutating func note(timestamp: UInt32, arrival: MonotonicTime) {
        guard timestamp != self.timestamp else { return }
        self.timestamp = timestamp
        defer { lastChange = arrival }
        guard let lastChange, arrival > lastChange else { return }
        let step = min(arrival - lastChange, .seconds(1))
        interval = interval.map { $0 + (step - $0) / 8 } ?? step
    }
}
