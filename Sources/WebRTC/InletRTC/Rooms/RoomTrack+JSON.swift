import InletCore

extension RoomTrack {
    /// The JSON form: `{"name":"camera","on":true}`.
    var json: JSONValue {
        JSONValue(
            .object([
                JSONMember(key: "name", value: JSONValue(.string(name))),
                JSONMember(key: "on", value: JSONValue(.boolean(isOn))),
            ]))
    }

    /// Reads the list of a message of the type `tracks`.
    static func list(_ members: SignalingMembers) throws(InletError) -> [RoomTrack] {
        guard let elements = members.value("tracks")?.elements else {
            throw SignalingEnvelope.error("tracks is no list")
        }
        guard elements.count <= most else { throw SignalingEnvelope.error("tracks has more than \(most) elements") }
        return try elements.map { value throws(InletError) in
            let track = try SignalingMembers(value)
            guard case .boolean(let isOn)? = track.value("on")?.content else {
                throw SignalingEnvelope.error("on is not true or false")
            }
            return RoomTrack(name: try track.required("name", upTo: longestName), isOn: isOn)
        }
    }
}

extension CallID {
    /// The name under which a participant of a room reports its tracks.
    static let room = (try? CallID("room")) ?? CallID()
}
