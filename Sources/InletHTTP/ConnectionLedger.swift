/// Decides which connections a server keeps. Holds no socket and no clock.
///
/// Connections that do nothing lock nobody out: where there is no room, a newcomer takes the place of a connection that
/// keeps the server waiting, which may be closed at any time (RFC 9112, 9.5). It is the one that has waited longest, of
/// the client who has the most of them: whoever has just come has the time to say what it wants. Only connections that
/// are being answered stay.
package struct ConnectionLedger: Sendable {
    /// Names a connection.
    package typealias ID = Int

    /// What a connection is at.
    package enum Activity: Sendable {
        /// The server waits for the client: for a request, for the rest of one, or for its leaving.
        case waiting
        /// The client waits for the server.
        case answering
    }

    /// What is to become of a newcomer.
    package enum Verdict: Sendable, Equatable {
        case admitted(ID)
        /// The other connection is to be closed. It is no longer counted.
        case replaces(ID, by: ID)
        /// There is no room, and nobody waits.
        case refused
    }

    private struct Entry {
        var client: ClientAddress
        /// Whether it may see something: it has shown the token, or there is none.
        var isKnown: Bool
        var activity = Activity.waiting
        /// Since its activity changed: a number that grows.
        var since: Int
    }

    private let maximum: Int
    private let strangersPerClient: Int
    private var entries: [ID: Entry] = [:]
    private var count = 0

    /// - Parameters:
    ///   - maximum: connections at a time, at least 1.
    ///   - strangersPerClient: connections of one client that have not shown the token, at least 1.
    package init(maximum: Int, strangersPerClient: Int) {
        self.maximum = max(1, maximum)
        self.strangersPerClient = max(1, strangersPerClient)
    }

    /// Connections that are counted.
    package var connections: Int { entries.count }

    /// Decides about a newcomer.
    ///
    /// - Parameter isKnown: whether it need not show a token.
    package mutating func admit(_ client: ClientAddress, isKnown: Bool) -> Verdict {
        if !isKnown {
            let crowd = entries.filter { !$0.value.isKnown && $0.value.client == client }
            if crowd.count >= strangersPerClient { return replace(Self.longestWaiting(of: crowd), by: client, isKnown) }
        }
        guard entries.count >= maximum else { return .admitted(add(client, isKnown)) }
        return replace(Self.longestWaiting(of: entries), by: client, isKnown)
    }

    /// A connection is at something else.
    package mutating func set(_ activity: Activity, of id: ID) {
        guard entries[id] != nil else { return }
        count += 1
        entries[id]?.activity = activity
        entries[id]?.since = count
    }

    /// Whether what a connection asked for last may be seen by it.
    package mutating func set(isKnown: Bool, of id: ID) { entries[id]?.isKnown = isKnown }

    /// A connection is closed.
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

    /// Of the client with the most connections that wait, the one that has waited longest; nil where none waits.
    private static func longestWaiting(of entries: [ID: Entry]) -> ID? {
        let waiting = entries.filter { $0.value.activity == .waiting }
        var sizes: [ClientAddress: Int] = [:]
        for entry in waiting.values { sizes[entry.client, default: 0] += 1 }
        func rank(_ entry: Entry) -> (Int, Int) { (-(sizes[entry.client] ?? 0), entry.since) }
        return waiting.min { rank($0.value) < rank($1.value) }?.key
    }
}
