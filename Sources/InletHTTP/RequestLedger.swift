package import InletCore

/// Tells which of many senders send too many requests: each may send so many a second, and five seconds' worth at once.
/// Holds no clock, and one time for each sender, of a bounded number of them.
package struct RequestLedger<Sender: Hashable & Sendable>: Sendable {
    /// The time that one request takes up.
    private let interval: Duration
    /// How far ahead of the clock a sender may be.
    private let allowance: Duration
    /// Until when the requests of a sender have taken up the time. One that is over is as good as none.
    private var taken: [Sender: MonotonicTime] = [:]

    /// The most senders that are remembered.
    package static var mostSenders: Int { 4096 }
    /// How many seconds' worth of requests may come at once.
    private static var burst: Int { 5 }

    /// - Parameter rate: the most requests a second of one sender, at least 1.
    package init(rate: Int) {
        interval = .seconds(1) / max(1, rate)
        allowance = .seconds(Self.burst)
    }

    /// The number of senders that are remembered.
    package var senders: Int { taken.count }

    /// Notes a request.
    ///
    /// - Returns: nil if it is served; otherwise the time until one would be, and it is not counted.
    package mutating func note(_ sender: Sender, at now: MonotonicTime) -> Duration? {
        let begin = max(taken[sender] ?? now, now)
        let ahead = begin + interval - now
        guard ahead <= allowance else { return ahead - allowance }
        if taken[sender] == nil, taken.count >= Self.mostSenders { forget(at: now) }
        taken[sender] = begin + interval
        return nil
    }

    /// Forgets a part of the senders: those that have sent the least of late. Whoever sends most stays remembered,
    /// however many there are.
    private mutating func forget(at now: MonotonicTime) {
        taken = taken.filter { $0.value > now }
        guard taken.count > Self.mostSenders * 3 / 4 else { return }
        let busiest = taken.sorted { $0.value > $1.value }.prefix(Self.mostSenders * 3 / 4)
        taken = Dictionary(uniqueKeysWithValues: busiest.map { ($0.key, $0.value) })
    }
}
