package import InletCore

/// Tells how long packets wait in queues on their way, from times of two clocks that nobody has set alike.
///
/// The shortest way of the last half minute to a minute is taken for that of a path whose queues are empty, so that
/// clocks may drift and routes may change.
package struct PathDelay: Sendable {
    private var shortest: [Int64] = []
    private var epoch: Int64?
    private static let epochLength: Int64 = 30_000_000_000

    package init() {}

    /// What packets waited that took the longest or the shortest way of their group.
    ///
    /// - Parameters:
    ///   - difference: the time of arrival by the far end's clock less the time of sending by this one's, in
    ///     nanoseconds.
    ///   - now: increases from call to call.
    package mutating func queueing(_ difference: Int64, at now: MonotonicTime) -> Duration {
        let current = now.nanoseconds / Self.epochLength
        if epoch != current {
            // The one before is kept as well, for as long as this one knows little.
            shortest = epoch.map { $0 + 1 == current } ?? false ? Array(shortest.suffix(1)) : []
            shortest.append(difference)
            epoch = current
        }
        shortest[shortest.count - 1] = min(shortest[shortest.count - 1], difference)
        let least = shortest.min() ?? difference
        return .nanoseconds(difference.subtractingReportingOverflow(least).partialValue)
    }
}
