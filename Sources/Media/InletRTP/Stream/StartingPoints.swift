import InletCore

/// Decides at which access units decoding may start.
///
/// Key frames and recovery points are such units. Some cameras send neither: their intra-coded pictures have no
/// references, but no message marks them. Such pictures count if no other starting point has come for a while.
package struct StartingPoints {
    private var lastCertain: MonotonicTime?
    private var start: MonotonicTime?

    /// The time for which a stream may be without a stated starting point before intra-coded pictures count.
    private static let patience = Duration.seconds(2)

    package init() {}

    /// Returns whether decoding may start at the unit.
    package mutating func isStart(_ unit: AccessUnit) -> Bool {
        let since = start ?? unit.lastArrival
        start = since
        if unit.isKey || unit.isRecoveryPoint {
            lastCertain = unit.lastArrival
            return true
        }
        return unit.isIntra == true && lastCertain == nil && unit.lastArrival - since >= Self.patience
    }
}
