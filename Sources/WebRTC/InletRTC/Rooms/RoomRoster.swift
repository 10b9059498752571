/// A track of a participant of a room, as the participant reports it.
public struct RoomTrack: Sendable, Hashable {
    /// The track's name, of 1 to ``longestName`` bytes.
    public var name: String
    /// Whether it shows something now.
    public var isOn: Bool

    /// The maximum length of a name in bytes.
    public static let longestName = 64
    /// The maximum number of a participant's tracks.
    public static let most = 16

    public init(name: String, isOn: Bool) {
        self.name = name
        self.isOn = isOn
    }
}

/// A participant of a room.
public struct RoomParticipant: Sendable, Hashable {
    /// The name.
    public var id: PeerID
    /// The tracks, in the participant's order; empty before its first report.
    public var tracks: [RoomTrack]

    public init(id: PeerID, tracks: [RoomTrack] = []) {
        self.id = id
        self.tracks = tracks
    }
}

/// An event of a room.
public enum RoomEvent: Sendable, Hashable {
    /// A participant has joined.
    case joined(PeerID)
    /// A participant has left.
    case left(PeerID)
    /// The tracks of a participant have changed to these.
    case tracks(PeerID, [RoomTrack])
}

/// Records the participants of a room and their active tracks, without a service or a clock: its inputs are the reports
/// of a service.
///
/// A list of tracks has a number that rises, so that a late or repeated one changes nothing.
package struct RoomRoster: Sendable {
    private struct Entry: Sendable {
        var tracks: [RoomTrack] = []
        var number = -1
    }

    private var entries: [PeerID: Entry] = [:]
    private let most: Int

    /// - Parameter most: the maximum number of other participants; further ones are ignored.
    package init(most: Int) { self.most = max(1, most) }

    /// All participants except this side, in the order of their names.
    package var participants: [RoomParticipant] {
        entries.sorted { $0.key < $1.key }.map { RoomParticipant(id: $0.key, tracks: $0.value.tracks) }
    }

    /// Records that a participant is present.
    package mutating func joined(_ peer: PeerID) -> [RoomEvent] {
        guard entries[peer] == nil, entries.count < most else { return [] }
        entries[peer] = Entry()
        return [.joined(peer)]
    }

    /// Records that a participant has left.
    package mutating func left(_ peer: PeerID) -> [RoomEvent] {
        entries.removeValue(forKey: peer) == nil ? [] : [.left(peer)]
    }

    /// Records that a participant has restarted: its tracks are unknown, and its numbers restart.
    package mutating func reset(_ peer: PeerID) -> [RoomEvent] {
        guard let entry = entries[peer] else { return joined(peer) }
        entries[peer] = Entry()
        return entry.tracks.isEmpty ? [] : [.tracks(peer, [])]
    }

    /// Records which participants are present.
    package mutating func present(_ peers: [PeerID]) -> [RoomEvent] {
        let gone = entries.keys.filter { !peers.contains($0) }.sorted()
        return gone.flatMap { left($0) } + peers.flatMap { joined($0) }
    }

    /// Takes a list of tracks. Its sender is present.
    package mutating func tracks(_ tracks: [RoomTrack], number: Int, of peer: PeerID) -> [RoomEvent] {
        let events = joined(peer)
        guard let entry = entries[peer], number > entry.number else { return events }
        entries[peer] = Entry(tracks: Array(tracks.prefix(RoomTrack.most)), number: number)
        return entry.tracks == tracks ? events : events + [.tracks(peer, tracks)]
    }
}
