package import InletCore

/// Counts each client's wrong tokens and reports which clients must wait before another token is checked. Uses no
/// clock.
///
/// A token chosen by a person can be guessed if thousands per second can be tried. A client with too many wrong tokens
/// is therefore refused without a check for a while. Only delaying the response would not help: it allows as many tries
/// as there are connections.
package struct GuessLedger: Sendable {
    private struct Record {
        var count: Int
        var begun: MonotonicTime
    }

    private let most: Int
    private let period: Duration
    private var records: [ClientAddress: Record] = [:]
    private static let mostClients = 1024

    /// - Parameters:
    ///   - most: the most wrong tokens of a client in a period. The default is 10.
    ///   - period: the period. The default is a minute.
    package init(most: Int = 10, period: Duration = .seconds(60)) {
        self.most = max(1, most)
        self.period = period
    }

    /// Returns the time until a token of this client is checked; nil if one is checked now.
    package func wait(of client: ClientAddress, at now: MonotonicTime) -> Duration? {
        guard let record = records[client], record.count >= most, now - record.begun < period else { return nil }
        return record.begun + period - now
    }

    /// Records a wrong token of a client.
    package mutating func note(_ client: ClientAddress, at now: MonotonicTime) {
        if records[client].map({ now - $0.begun >= period }) ?? true { records[client] = Record(count: 0, begun: now) }
        records[client]?.count += 1
        guard records.count > Self.mostClients else { return }
        records = records.filter { now - $0.value.begun < period }
        // If too many clients guess at the same time, those with the fewest guesses are forgotten.
        guard records.count > Self.mostClients else { return }
        if let fewest = records.min(by: { ($0.value.count, $0.value.begun) < ($1.value.count, $1.value.begun) }) {
            records[fewest.key] = nil
        }
    }
}
