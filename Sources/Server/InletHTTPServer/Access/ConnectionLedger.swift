/// Decides which connections a server keeps. Uses no sockets and no clock.
///
/// Idle connections lock nobody out. If the server is full, a new connection replaces one that keeps the server
/// waiting, which may be closed at any time (RFC 9112, 9.5). It replaces the longest-waiting connection of the client
/// with the most waiting connections, so a client that has just connected has time to send its request. A connection
/// that is being answered is never replaced.
package struct ConnectionLedger: Sendable {
    /// Identifies a connection.
    package typealias ID = Int

    /// The activity of a connection.
    package enum Activity: Sendable {
        /// The server waits for the client: for a request, the rest of a request, or a disconnection.
        case waiting
        /// The client waits for the server.
        case answering
    }

    /// The decision about a new connection.
    package enum Verdict: Sendable, Equatable {
        case admitted(ID)
        /// The new connection is admitted and the other one, which is no longer counted, must be closed.
        case replaces(ID, by: ID)
        /// The server is full and no connection is waiting.
        case refused
    }

    private struct Entry {
        var client: ClientAddress
        /// Whether the client is authorised: it has presented the token, or no token is required.
        var isKnown: Bool
        var activity = Activity.waiting
        /// An increasing number that orders changes of activity.
        var since: Int
    }

    private let maximum: Int
    private let strangersPerClient: Int
    private var entries: [ID: Entry] = [:]
    private var count = 0

    /// - Parameters:
    ///   - maximum: the most connections at a time, at least 1.
    ///   - strangersPerClient: the most connections of one client that have not presented the token, at least 1.
    package init(maximum: Int, strangersPerClient: Int) {
        self.maximum = max(1, maximum)
        self.strangersPerClient = max(1, strangersPerClient)
    }

    /// The number of counted connections.
    package var connections: Int { entries.count }

    /// Decides about a new connection.
    ///
    /// - Parameter isKnown: whether the client is authorised without a token.
    package mutating func admit(_ client: ClientAddress, isKnown: Bool) -> Verdict {
        if !isKnown {
            let crowd = entries.filter { !$0.value.isKnown && $0.value.client == client }
            if crowd.count >= strangersPerClient { return replace(Self.longestWaiting(of: crowd), by: client, isKnown) }
        }
        guard entries.count >= maximum else { return .admitted(add(client, isKnown)) }
        return replace(Self.longestWaiting(of: entries), by: client, isKnown)
    }

    /// Sets the activity of a connection.
    package mutating func set(_ activity: Activity, of id: ID) {
        guard entries[id] != nil else { return }
        count += 1
        entries[id]?.activity = activity
        entries[id]?.since = count
    }

    /// Sets whether a connection is authorised for its latest request.
    package mutating func set(isKnown: Bool, of id: ID) { entries[id]?.isKnown = isKnown }

    /// Removes a closed connection.
    package mutating func remove(_ id: ID) { entries[id] = nil }

    private mutating func add(_ client: ClientAddress, _ isKnown: Bool) -> ID {
        count += 1
        entries[count] = Entry(client: client, isKnown: isKnown, since: count)
        return count
    }

    private mutating func replace(_ old: ID?, by client: ClientAddress, _ isKnown: Bool) -> Verdict {
        guard let old else { return .refused }
        entries[old] = nil
        return .replaces(old, by: add(client, isKnown))
    }

    /// Returns the longest-waiting connection of the client with the most waiting ones; nil if none waits.
    private static func longestWaiting(of entries: [ID: Entry]) -> ID? {
        let waiting = entries.filter { $0.value.activity == .waiting }
        var sizes: [ClientAddress: Int] = [:]
        for entry in waiting.values { sizes[entry.client, default: 0] += 1 }
        func rank(_ entry: Entry) -> (Int, Int) { (-(sizes[entry.client] ?? 0), entry.since) }
        return waiting.min { rank($0.value) < rank($1.value) }?.key
    }
}
