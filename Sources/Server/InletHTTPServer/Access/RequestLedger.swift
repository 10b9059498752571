package import InletCore

/// Decides which of many senders send too many requests. A sender may send `rate` requests per second, and five
/// seconds' worth at once. Uses no clock, and stores one time for each of a limited number of senders.
package struct RequestLedger<Sender: Hashable & Sendable>: Sendable {
    /// The time that one request takes up.
    private let interval: Duration
    /// How far ahead of the clock a sender may be.
    private let allowance: Duration
    /// The time up to which a sender's requests have taken up the time. A past time has no effect.
    private var taken: [Sender: MonotonicTime] = [:]

    /// The most senders that are remembered.
    package static var mostSenders: Int { 4096 }
    /// The number of seconds whose requests may come at once.
    private static var burst: Int { 5 }

    /// - Parameter rate: the most requests per second of one sender, at least 1.
    package init(rate: Int) {
        interval = .seconds(1) / max(1, rate)
        allowance = .seconds(Self.burst)
    }

    /// The number of senders that are remembered.
    package var senders: Int { taken.count }

    /// Records a request.
    ///
    /// - Returns: nil if the request is served; otherwise the time until one would be, and the request is not counted.
    package mutating func note(_ sender: Sender, at now: MonotonicTime) -> Duration? {
        let begin = max(taken[sender] ?? now, now)
        let ahead = begin + interval - now
        guard ahead <= allowance else { return ahead - allowance }
        if taken[sender] == nil, taken.count >= Self.mostSenders { forget(at: now) }
        taken[sender] = begin + interval
        return nil
    }

    /// Forgets some of the senders: those that have sent the fewest requests recently. The senders with the most
    /// requests are kept, however many senders there are.
    private mutating func forget(at now: MonotonicTime) {
        taken = taken.filter { $0.value > now }
        guard taken.count > Self.mostSenders * 3 / 4 else { return }
        let busiest = taken.sorted { $0.value > $1.value }.prefix(Self.mostSenders * 3 / 4)
        taken = Dictionary(uniqueKeysWithValues: busiest.map { ($0.key, $0.value) })
    }
}
