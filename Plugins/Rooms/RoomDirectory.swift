import InletCore
import InletRTC

/// Decides about the members of rooms and the receivers of messages. A value without connections or a clock.
struct RoomDirectory: Sendable {
    /// The number of a connection.
    typealias MemberID = Int

    /// The actions to perform, in order.
    enum Action: Sendable, Equatable {
        /// Send a text to a member.
        case send(String, to: MemberID)
        /// Send the reason and close the connection, which no longer belongs to a member.
        case refuse(MemberID, RoomRefusal)
        /// Check immediately whether a member is still connected, because another one requests its name.
        case probe(MemberID)
    }

    private struct Place {
        var room: String
        var member: RoomMessage.Member
        var rate: AdmissionRate
    }

    private let limits: RoomLimits
    /// Returns the STUN and TURN servers for a member.
    private let servers: @Sendable (PeerID) -> [ICEServer]
    private var places: [MemberID: Place] = [:]
    private var rooms: [String: [PeerID: MemberID]] = [:]
    /// The time that the owner of a name has to answer when another member requests the name.
    static let probeLimit = Duration.seconds(2)
    private static let longestRoom = 128

    /// - Parameter servers: returns the STUN and TURN servers for a member, with its credentials. The default returns
    ///   no servers.
    init(_ limits: RoomLimits, servers: @escaping @Sendable (PeerID) -> [ICEServer] = { _ in [] }) {
        (self.limits, self.servers) = (limits, servers)
    }

    /// The number of members in all rooms.
    var count: Int { places.count }

    /// Returns the room named in a request's path: visible ASCII after the first slash; nil for any other path.
    static func room(inPath path: String) -> String? {
        let name = path.utf8.dropFirst()
        guard path.hasBytePrefix("/"), (1...longestRoom).contains(name.count),
            name.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") })
        else { return nil }
        return String(Substring(name))
    }

    /// Admits a member to a room.
    ///
    /// - Parameters:
    ///   - id: the member's name; nil to generate one.
    ///   - instance: the member's instance as other members see it. A connection can present a member's instance only
    ///     if it knows the secret from which it is derived.
    mutating func join(
        _ room: String, as id: PeerID?, _ instance: SignalingInstance, number: MemberID
    ) -> [Action] {
        let id = id ?? freeName(in: room, number)
        guard let id else { return [.refuse(number, Self.full("No unused name was found. Choose one with ?id=NAME."))] }
        var actions: [Action] = []
        let member = RoomMessage.Member(id: id, instance: instance)
        if let old = rooms[room]?[id], let place = places[old] {
            guard place.member.instance == instance else {
                let text = "The room already has a member named '\(id)'. Choose another name, or try again later."
                return [
                    .refuse(
                        number, RoomRefusal(reason: .taken, text: text, retryAfter: Self.probeLimit + .seconds(1))),
                    .probe(old),
                ]
            }
            // The same member over a new connection, because the old one broke unnoticed. Nothing changes for the
            // others.
            places[old] = nil
            let text = "Another connection of this member replaced this one."
            actions.append(.refuse(old, RoomRefusal(reason: .replaced, text: text)))
            actions += enter(room, member, number, isKnown: true)
            return actions
        }
        guard rooms[room] != nil || rooms.count < limits.rooms else {
            return [.refuse(number, Self.full("The server has its maximum number of rooms."))]
        }
        guard (rooms[room]?.count ?? 0) < limits.members else {
            return [.refuse(number, Self.full("The room has its maximum number of members."))]
        }
        return enter(room, member, number, isKnown: false)
    }

    private mutating func enter(
        _ room: String, _ member: RoomMessage.Member, _ number: MemberID, isKnown: Bool
    ) -> [Action] {
        rooms[room, default: [:]][member.id] = number
        places[number] = Place(room: room, member: member, rate: limits.rate)
        let others = others(of: number)
        let present = others.compactMap { places[$0]?.member }
        let joined = RoomMessage.joined(member).json
        let welcome = RoomMessage.welcome(member.id, others: present, servers: servers(member.id))
        return [.send(welcome.json, to: number)]
            + (isKnown ? [] : others.map { .send(joined, to: $0) })
    }

    /// Records that a connection has ended, or ends it. Has no effect if the connection does not belong to a member.
    mutating func leave(_ number: MemberID) -> [Action] {
        guard let place = places[number] else { return [] }
        let others = others(of: number)
        places[number] = nil
        rooms[place.room]?[place.member.id] = nil
        if rooms[place.room]?.isEmpty == true { rooms[place.room] = nil }
        let left = RoomMessage.left(place.member).json
        return others.map { .send(left, to: $0) }
    }

    /// Handles a member's message: for the named member, or for all others if none is named.
    mutating func take(_ text: [UInt8], from number: MemberID, at now: MonotonicTime) -> [Action] {
        guard var place = places[number] else { return [] }
        if place.rate.wait(at: now) != nil {
            return drop(number, .flood, limits.floodText)
        }
        place.rate.admit()
        places[number] = place
        let receiver: PeerID?
        let relayed: String
        do throws(InletError) {
            (receiver, relayed) = try Self.stamped(text, by: place.member)
        } catch {
            return drop(number, .malformed, error.message)
        }
        guard let receiver else { return others(of: number).map { .send(relayed, to: $0) } }
        // The sender was notified of members that left meanwhile.
        guard let other = rooms[place.room]?[receiver], other != number else { return [] }
        return [.send(relayed, to: other)]
    }

    /// Sends a member newer credentials for the servers, if there are any.
    func renewServers(of number: MemberID) -> [Action] {
        guard let member = places[number]?.member else { return [] }
        let list = servers(member.id)
        return list.isEmpty ? [] : [.send(RoomMessage.servers(list).json, to: number)]
    }

    /// Ends all memberships.
    mutating func end() -> [Action] {
        let refusal = RoomRefusal(reason: .ending, text: "The server ends.", retryAfter: .seconds(1))
        let actions = places.keys.sorted().map { Action.refuse($0, refusal) }
        (places, rooms) = ([:], [:])
        return actions
    }

    /// Ends a membership and sends the reason.
    mutating func drop(_ number: MemberID, _ reason: RoomRefusal.Reason, _ text: String) -> [Action] {
        guard places[number] != nil else { return [] }
        return leave(number) + [.refuse(number, RoomRefusal(reason: reason, text: text, retryAfter: .seconds(5)))]
    }

    /// Returns a message with its receiver, and with the sender's name and instance set by the server.
    private static func stamped(
        _ text: [UInt8], by member: RoomMessage.Member
    ) throws(InletError) -> (receiver: PeerID?, text: String) {
        let value = try JSONReader.read(text)
        let members = try SignalingMembers(value)
        let type = try members.required("type", upTo: 32)
        guard !["welcome", "joined", "left", "refused", "iceServers"].contains(type) else {
            throw InletError(.malformedData, "Only the server sends messages of this type.")
        }
        let receiver = try members.peer("to")
        let kept = (value.members ?? []).filter { member in
            !["from", "instance"].contains { member.key.isSameBytes(as: $0) }
        }
        let stamps = [("from", "\(member.id)"), ("instance", "\(member.instance)")].map {
            JSONMember(key: $0.0, value: JSONValue(.string($0.1)))
        }
        return (receiver, JSONValue(.object(kept + stamps)).json)
    }

    private func others(of number: MemberID) -> [MemberID] {
        guard let room = places[number]?.room, let members = rooms[room] else { return [] }
        return members.sorted { $0.key < $1.key }.map(\.value).filter { $0 != number }
    }

    private func freeName(in room: String, _ number: MemberID) -> PeerID? {
        for suffix in [number] + Array(1...(limits.members + 1)) {
            if let name = try? PeerID("guest-\(suffix)"), rooms[room]?[name] == nil { return name }
        }
        return nil
    }

    private static func full(_ text: String) -> RoomRefusal {
        RoomRefusal(reason: .full, text: text, retryAfter: .seconds(5))
    }
}
