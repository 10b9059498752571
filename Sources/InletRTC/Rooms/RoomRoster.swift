/// A track of a participant of a room, as the participant tells of it.
public struct RoomTrack: Sendable, Hashable {
    /// The track's name, of 1 to ``longestName`` bytes.
    public var name: String
    /// Whether it shows something now.
    public var isOn: Bool

    /// The most bytes of a name.
    public static let longestName = 64
    /// The most tracks of a participant.
    public static let most = 16

    public init(name: String, isOn: Bool) {
        self.name = name
        self.isOn = isOn
    }
}

/// Somebody in a room.
public struct RoomParticipant: Sendable, Hashable {
    /// The name.
    public var id: PeerID
    /// The tracks, in the participant's order; none before it has told of any.
    public var tracks: [RoomTrack]

    public init(id: PeerID, tracks: [RoomTrack] = []) {
        self.id = id
        self.tracks = tracks
    }
}

/// Something that happened in a room.
public enum RoomEvent: Sendable, Hashable {
    /// Somebody has come.
    case joined(PeerID)
    /// Somebody has gone.
    case left(PeerID)
    /// The tracks of a participant have changed to these.
    case tracks(PeerID, [RoomTrack])
}

/// Knows who is in a room and whose track is on, without a service or a clock: its input is what a service reports.
///
/// A list of tracks has a number that rises, so that one that comes late or twice changes nothing.
package struct RoomRoster: Sendable {
    private struct Entry: Sendable {
        var tracks: [RoomTrack] = []
        var number = -1
    }

    private var entries: [PeerID: Entry] = [:]
    private let most: Int

    /// - Parameter most: the most participants besides this side; further ones are not known.
    package init(most: Int) { self.most = max(1, most) }

    /// Everybody but this side, in the order of their names.
    package var participants: [RoomParticipant] {
        entries.sorted { $0.key < $1.key }.map { RoomParticipant(id: $0.key, tracks: $0.value.tracks) }
    }

    /// Notes that somebody is there.
    package mutating func joined(_ peer: PeerID) -> [RoomEvent] {
        guard entries[peer] == nil, entries.count < most else { return [] }
        entries[peer] = Entry()
        return [.joined(peer)]
    }

    /// Notes that somebody has gone.
    package mutating func left(_ peer: PeerID) -> [RoomEvent] {
        entries.removeValue(forKey: peer) == nil ? [] : [.left(peer)]
    }

    /// Notes that somebody has begun anew: its tracks are not known, and its numbers begin anew.
    package mutating func reset(_ peer: PeerID) -> [RoomEvent] {
        guard let entry = entries[peer] else { return joined(peer) }
        entries[peer] = Entry()
        return entry.tracks.isEmpty ? [] : [.tracks(peer, [])]
    }

    /// Notes who is there, and who is not.
    package mutating func present(_ peers: [PeerID]) -> [RoomEvent] {
        let gone = entries.keys.filter { !peers.contains($0) }.sorted()
        return gone.flatMap { left($0) } + peers.flatMap { joined($0) }
    }

    /// Takes a list of tracks. Whoever speaks is there.
    package mutating func tracks(_ tracks: [RoomTrack], number: Int, of peer: PeerID) -> [RoomEvent] {
        let events = joined(peer)
        guard let entry = entries[peer], number > entry.number else { return events }
        entries[peer] = Entry(tracks: Array(tracks.prefix(RoomTrack.most)), number: number)
        return entry.tracks == tracks ? events : events + [.tracks(peer, tracks)]
    }
}
