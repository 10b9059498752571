import InletCore
import InletHTTPServer
import InletRTC
import InletSystem
import NIOCore

/// The rooms of a server and the connections of their members. Confined to the server's single thread.
final class RoomHub {
    private let limits: RoomLimits
    /// The interval at which members get newer credentials; nil if theirs do not expire.
    private let renewal: Duration?
    private var directory: RoomDirectory
    private var connections: [RoomDirectory.MemberID: RoomConnection] = [:]
    private var quota: ClientQuota<ClientAddress>
    private var count = 0

    /// - Parameter ice: the servers that are sent to members.
    init(_ limits: RoomLimits, _ ice: ICEServers) {
        self.limits = limits
        renewal = ice.shared.isEmpty ? nil : max(.seconds(1), ice.lifetime / 2)
        directory = RoomDirectory(limits) { ice.list(for: "\($0)", now: HostTime.seconds) }
        quota = ClientQuota(all: limits.connections, perClient: limits.perAddress)
    }

    /// Returns the handler for a new member's connection; nil if the server is full.
    func admit(
        _ client: ClientAddress, to room: String, as id: PeerID?, _ instance: SignalingInstance
    ) -> RoomConnection? {
        guard quota.admit(client, at: .now) else { return nil }
        count += 1
        let number = count
        let connection = RoomConnection(limits, renewal: renewal) { [weak self] event in
            guard let self else { return }
            switch event {
            case .opened: perform(directory.join(room, as: id, instance, number: number))
            case .message(let text): perform(directory.take(text, from: number, at: .now))
            case .renewalDue: perform(directory.renewServers(of: number))
            case .broken(let reason, let text): perform(directory.drop(number, reason, text))
            case .ended:
                guard connections.removeValue(forKey: number) != nil else { return }
                quota.leave(client)
                perform(directory.leave(number))
            }
        }
        connections[number] = connection
        return connection
    }

    /// Ends all connections.
    func end() { perform(directory.end()) }

    private func perform(_ actions: [RoomDirectory.Action]) {
        var actions = actions[...]
        while let action = actions.popFirst() {
            switch action {
            case .send(let text, let number):
                guard let connection = connections[number], !connection.send(text) else { continue }
                actions += directory.drop(number, .slow, "The member reads too slowly.")
            case .refuse(let number, let refusal): connections[number]?.refuse(refusal)
            case .probe(let number): connections[number]?.probe(within: RoomDirectory.probeLimit)
            }
        }
    }
}
