import InletCore
import InletRTC

/// The messages of a room's server to its members.
///
/// | type | keys |
/// |---|---|
/// | `welcome` | `peer` (the member's own name), `peers`: a list of `peer` and `instance`, `iceServers` |
/// | `iceServers` | `iceServers`: STUN and TURN servers, as W3C's `RTCIceServer`; they replace the earlier ones |
/// | `joined`, `left` | `peer`, `instance` |
/// | `refused` | `reason` (a word), `text` (for people), `retryAfter` in seconds, which may be missing |
/// | any other | a message of another member, with `from` and `instance` set by the server |
enum RoomMessage: Sendable {
    /// A member of a room.
    struct Member: Sendable, Hashable {
        var id: PeerID
        var instance: SignalingInstance
    }

    /// The first message: the member's name, the other members, and the servers for sessions.
    case welcome(PeerID, others: [Member], servers: [ICEServer] = [])
    /// The servers for sessions from now on, with newer credentials.
    case servers([ICEServer])
    case joined(Member)
    case left(Member)
    /// The last message before the server closes the connection.
    case refused(RoomRefusal)
    case envelope(SignalingEnvelope)

    /// Parses a message of the server.
    ///
    /// - Throws: ``InletError/Code/malformedData``.
    init(json: String) throws(InletError) {
        let bytes = Array(json.utf8)
        guard bytes.count <= SignalingEnvelope.longest else {
            throw InletError(.malformedData, "A message of the room has more than \(SignalingEnvelope.longest) bytes.")
        }
        let value = try JSONReader.read(bytes)
        let members = try SignalingMembers(value)
        switch try members.required("type", upTo: 32) {
        case "welcome":
            var others: [Member] = []
            for other in members.value("peers")?.elements ?? [] {
                others.append(try Self.member(SignalingMembers(other)))
            }
            self = .welcome(
                try Self.member(members, needsInstance: false).id, others: others,
                servers: Self.servers(of: members))
        case "iceServers": self = .servers(Self.servers(of: members))
        case "joined": self = .joined(try Self.member(members))
        case "left": self = .left(try Self.member(members))
        case "refused":
            let reason = try members.required("reason", upTo: 64)
            let wait = try members.integer("retryAfter", upTo: 86_400)
            self = .refused(
                RoomRefusal(
                    reason: RoomRefusal.Reason(rawValue: reason) ?? .other,
                    text: try members.text("text", upTo: 1024) ?? reason, retryAfter: wait.map { .seconds($0) }))
        default: self = .envelope(try SignalingEnvelope(value))
        }
    }

    private static func member(
        _ members: SignalingMembers, needsInstance: Bool = true
    ) throws(InletError) -> Member {
        guard let id = try members.peer("peer") else { throw InletError(.malformedData, "A member has no name.") }
        guard let instance = try members.instance() else {
            guard !needsInstance else { throw InletError(.malformedData, "A member has no instance.") }
            return Member(id: id, instance: SignalingInstance())
        }
        return Member(id: id, instance: instance)
    }

    /// The message as the server sends it.
    var json: String {
        switch self {
        case .welcome(let id, let others, let servers):
            JSONValue(
                .object(
                    [
                        Self.text("type", "welcome"), Self.text("peer", "\(id)"),
                        JSONMember(key: "peers", value: Self.json(of: others)),
                    ] + (servers.isEmpty ? [] : [JSONMember(key: "iceServers", value: Self.json(of: servers))]))
            ).json
        case .servers(let servers):
            JSONValue(
                .object([
                    Self.text("type", "iceServers"), JSONMember(key: "iceServers", value: Self.json(of: servers)),
                ])
            ).json
        case .joined(let member): JSONValue(.object([Self.text("type", "joined")] + Self.members(member))).json
        case .left(let member): JSONValue(.object([Self.text("type", "left")] + Self.members(member))).json
        case .refused(let refusal):
            JSONValue(
                .object(
                    [
                        Self.text("type", "refused"), Self.text("reason", refusal.reason.rawValue),
                        Self.text("text", refusal.text),
                    ]
                        + (refusal.retryAfter.map {
                            [JSONMember(key: "retryAfter", value: JSONValue(.number("\($0.components.seconds)")))]
                        } ?? []))
            ).json
        case .envelope(let envelope): envelope.json
        }
    }

    private static func json(of members: [Member]) -> JSONValue {
        JSONValue(.array(members.map { JSONValue(.object(Self.members($0))) }))
    }

    private static func members(_ member: Member) -> [JSONMember] {
        [text("peer", "\(member.id)"), text("instance", "\(member.instance)")]
    }

    private static func text(_ key: String, _ text: String) -> JSONMember {
        JSONMember(key: key, value: JSONValue(.string(text)))
    }
}
