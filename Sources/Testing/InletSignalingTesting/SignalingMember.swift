import InletCore
import InletRTC

/// A member of the room of a check, with the events that it has received.
struct SignalingMember: Sendable {
    let service: any SignalingService
    let events: StreamLog<SignalingEvent>

    init(_ service: any SignalingService) {
        self.service = service
        events = StreamLog(service.events())
    }

    var id: PeerID { service.localID }

    /// Returns whether an event that meets the condition arrives within a time.
    func hears(_ limit: Duration, _ condition: @escaping @Sendable (SignalingEvent) -> Bool) async -> Bool {
        await events.waits(limit) { events, _ in events.contains(where: condition) }
    }

    /// Returns whether a peer is known to be present within a time.
    func sees(_ peer: PeerID, within limit: Duration) async -> Bool {
        await hears(limit) { event in
            switch event {
            case .opened(let peers): peers.contains(peer)
            case .joined(let joined): joined == peer
            default: false
            }
        }
    }
}

/// A channel of a check, with what has arrived on it.
struct LoggedChannel: Sendable {
    let channel: any SignalingChannel
    let log: StreamLog<SignalingMessage>

    init(_ member: SignalingMember, to peer: PeerID) throws(InletError) {
        channel = try member.service.channel(to: peer)
        log = StreamLog(channel.incoming)
    }

    /// Returns whether exactly these messages arrive within a time.
    func gets(_ messages: [SignalingMessage], within limit: Duration) async -> Bool {
        await log.waits(limit) { arrived, _ in arrived.count >= messages.count } && log.elements == messages
    }
}
