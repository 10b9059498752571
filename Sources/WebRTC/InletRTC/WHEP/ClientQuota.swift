package import InletCore

/// Bounds the sessions of all clients and of each one, and how fast each opens them, so that no client crowds out the
/// others. Holds no clock.
package struct ClientQuota<Client: Hashable & Sendable>: Sendable {
    private struct Record: Sendable {
        var sessions = 0
        var admission: AdmissionRate
        var lastCame: MonotonicTime
    }

    private let most: Int
    private let mostPerClient: Int
    private var all = 0
    private var together: AdmissionRate
    private var records: [Client: Record] = [:]
    /// The sessions a second of all clients, each of which costs some milliseconds of CPU time, and of one client.
    private static var perSecond: (all: Double, client: Double) { (50, 25) }
    private static var mostRecords: Int { 1024 }

    /// - Parameters:
    ///   - all: the maximum number of sessions of all clients, at least 1.
    ///   - perClient: the maximum number of sessions of one client, at least 1.
    package init(all: Int, perClient: Int) {
        most = max(1, all)
        mostPerClient = max(1, perClient)
        together = AdmissionRate(perSecond: Self.perSecond.all, burst: max(20, all))
    }

    /// Returns the current occupancy as seen by a client.
    package mutating func occupancy(for client: Client, at now: MonotonicTime) -> QuotaOccupancy {
        var record = record(of: client, at: now)
        let wait = [together.wait(at: now), record.admission.wait(at: now)].compactMap(\.self).max()
        if records[client] != nil { records[client] = record }
        return QuotaOccupancy(all: all, own: record.sessions, wait: wait)
    }

    /// Counts a session if there is room for it.
    ///
    /// - Returns: whether it was counted.
    package mutating func admit(_ client: Client, at now: MonotonicTime) -> Bool {
        let occupancy = occupancy(for: client, at: now)
        guard occupancy.all < most, occupancy.own < mostPerClient, occupancy.wait == nil else { return false }
        var record = record(of: client, at: now)
        record.sessions += 1
        record.lastCame = now
        _ = record.admission.wait(at: now)
        record.admission.admit()
        together.admit()
        all += 1
        records[client] = record
        // Forgets clients that have left and whose credit equals that of a new one.
        if records.count > Self.mostRecords {
            records = records.filter { $0.value.sessions > 0 || now - $0.value.lastCame < .seconds(60) }
        }
        return true
    }

    /// Records that a session has ended.
    package mutating func leave(_ client: Client) {
        guard let record = records[client], record.sessions > 0 else { return }
        records[client]?.sessions -= 1
        all -= 1
    }

    private func record(of client: Client, at now: MonotonicTime) -> Record {
        records[client]
            ?? Record(
                admission: AdmissionRate(perSecond: Self.perSecond.client, burst: mostPerClient), lastCame: now)
    }
}

/// The occupancy of a ``ClientQuota`` as seen by one client.
package struct QuotaOccupancy: Sendable, Hashable {
    /// The number of sessions of all clients.
    package var all: Int
    /// The number of sessions of this client.
    package var own: Int
    /// The time until this client may open another session if it opens them too fast; nil if it may now.
    package var wait: Duration?

    package init(all: Int, own: Int = 0, wait: Duration? = nil) {
        self.all = all
        self.own = own
        self.wait = wait
    }
}
