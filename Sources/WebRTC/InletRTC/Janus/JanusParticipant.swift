package import InletCore

/// A participant of a room of Janus's VideoRoom.
package struct JanusParticipant: Sendable, Hashable {
    /// The identifier by which others subscribe.
    package let id: String
    /// The name that others see; nil for none.
    package let display: String?
    /// Whether it publishes.
    package let isPublisher: Bool

    /// Reads the list that `listparticipants` returns. Invalid entries are left out.
    package static func list(_ data: JSONValue?) -> [JanusParticipant] {
        let elements = data?.members?.first { $0.key.isSameBytes(as: "participants") }?.value.elements ?? []
        return elements.compactMap { element in
            guard let members = try? SignalingMembers(element), let id = members.value("id") else { return nil }
            guard let name = id.number ?? id.text else { return nil }
            return JanusParticipant(
                id: name, display: try? members.text("display", upTo: 1024),
                isPublisher: members.value("publisher")?.content == .boolean(true))
        }
    }
}
