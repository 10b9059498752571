import InletCore
import InletRTC

extension RoomMessage {
    /// The maximum number of servers that a member accepts from a room's server.
    static let mostServers = 8
    private static let longestText = 1024

    /// Returns STUN and TURN servers in the form of W3C's `RTCIceServer`.
    static func json(of servers: [ICEServer]) -> JSONValue {
        JSONValue(
            .array(
                servers.map { server in
                    let login = [("username", server.user), ("credential", server.password)]
                    return JSONValue(
                        .object(
                            [JSONMember(key: "urls", value: JSONValue(.array([JSONValue(.string(server.uri))])))]
                                + login.compactMap { key, text in
                                    guard server.scheme != .stun, let text else { return nil }
                                    return JSONMember(key: key, value: JSONValue(.string(text)))
                                }))
                }))
    }

    /// Parses the servers in a message. Servers that this side does not support, such as TURN over DTLS, are left out.
    static func servers(of members: SignalingMembers) -> [ICEServer] {
        var servers: [ICEServer] = []
        for element in (members.value("iceServers")?.elements ?? []).prefix(mostServers) {
            guard let entry = try? SignalingMembers(element), let urls = entry.value("urls") else { continue }
            let user = try? entry.text("username", upTo: longestText)
            let password = try? entry.text("credential", upTo: longestText)
            for url in (urls.elements ?? [urls]).prefix(mostServers) {
                guard let text = url.text, text.utf8.count <= longestText,
                    let server = try? ICEServer(text, user: user, password: password)
                else { continue }
                servers.append(server)
            }
        }
        return Array(servers.prefix(mostServers))
    }
}
