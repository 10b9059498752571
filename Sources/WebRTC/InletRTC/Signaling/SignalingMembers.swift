package import InletCore

/// The members of a JSON object of signaling, each read as the expected type, within bounds.
package struct SignalingMembers {
    private let members: [JSONMember]

    /// - Throws: ``InletError/Code/malformedData`` if the value is not an object.
    package init(_ value: JSONValue) throws(InletError) {
        guard let members = value.members else { throw SignalingEnvelope.error("it is \(value.kind), not an object") }
        self.members = members
    }

    /// Returns the value of a key; nil if it is missing or null.
    package func value(_ key: String) -> JSONValue? {
        let value = members.first { $0.key.isSameBytes(as: key) }?.value
        return value?.content == .null ? nil : value
    }

    /// Returns a text of at most `most` bytes; nil if it is missing.
    package func text(_ key: String, upTo most: Int) throws(InletError) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.text else { throw SignalingEnvelope.error("\(key) is \(value.kind), not text") }
        guard text.utf8.count <= most else { throw SignalingEnvelope.error("\(key) has more than \(most) bytes") }
        return text
    }

    /// Returns a text of at most `most` bytes.
    package func required(_ key: String, upTo most: Int) throws(InletError) -> String {
        guard let text = try text(key, upTo: most) else { throw SignalingEnvelope.error("\(key) is missing") }
        return text
    }

    /// Returns a number from 0 on without a fraction; nil if it is missing.
    package func integer(_ key: String, upTo most: Int) throws(InletError) -> Int? {
        guard let value = value(key) else { return nil }
        guard let number = value.number.flatMap({ TextBytes.number($0.utf8, upTo: most) }) else {
            throw SignalingEnvelope.error("\(key) is no whole number from 0 to \(most)")
        }
        return number
    }

    /// Returns the name of a peer; nil if it is missing.
    package func peer(_ key: String) throws(InletError) -> PeerID? {
        guard let name = try text(key, upTo: PeerID.longest) else { return nil }
        guard let peer = try? PeerID(name) else { throw SignalingEnvelope.error("\(key) is no name of a peer") }
        return peer
    }

    /// Returns the name of the sender's run; nil if it is missing.
    package func instance() throws(InletError) -> SignalingInstance? {
        guard let name = try text("instance", upTo: SignalingInstance.longest) else { return nil }
        guard let instance = try? SignalingInstance(name) else {
            throw SignalingEnvelope.error("instance is no name")
        }
        return instance
    }

    func call() throws(InletError) -> CallID {
        let name = try required("call", upTo: CallID.longest)
        guard let call = try? CallID(name) else { throw SignalingEnvelope.error("call is no name") }
        return call
    }

    func flow() throws(InletError) -> SignalingFlow {
        let name = try required("flow", upTo: SignalingEnvelope.longestFlow)
        guard !name.isEmpty else { throw SignalingEnvelope.error("flow is empty") }
        return SignalingFlow(name)
    }
}
