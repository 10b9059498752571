package import InletCore

/// Computes the waiting time of packets in queues on their way, from the times of two unsynchronised clocks.
///
/// The shortest transit of the last half minute to a minute is taken for that of a path with empty queues, so that
/// clocks may drift and routes may change.
package struct PathDelay: Sendable {
    private var shortest: [Int64] = []
    private var epoch: Int64?
    private static let epochLength: Int64 = 30_000_000_000

    package init() {}

    /// Returns the queueing delay of the packets with the longest or the shortest transit of their group.
    ///
    /// - Parameters:
    ///   - difference: the time of arrival by the far end's clock minus the time of sending by this one's, in
    ///     nanoseconds.
    ///   - now: increases from call to call.
    package mutating func queueing(_ difference: Int64, at now: MonotonicTime) -> Duration {
        let current = now.nanoseconds / Self.epochLength
        if epoch != current {
            // The previous epoch is kept as well while the current one has few values.
            shortest = epoch.map { $0 + 1 == current } ?? false ? Array(shortest.suffix(1)) : []
            shortest.append(difference)
            epoch = current
        }
        shortest[shortest.count - 1] = min(shortest[shortest.count - 1], difference)
        let least = shortest.min() ?? difference
        return .nanoseconds(difference.subtractingReportingOverflow(least).partialValue)
    }
}
