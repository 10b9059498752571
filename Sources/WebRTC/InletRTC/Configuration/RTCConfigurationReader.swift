import InletCore

/// Turns the JSON of a configuration into an ``RTCConfiguration``. No error quotes text of the file that may be a
/// secret.
struct RTCConfigurationReader {
    private typealias Key = RTCConfiguration.Key
    /// The file, for errors.
    let file: String?
    /// The longest text of an address, a user name or a credential.
    private static let longestText = 1024
    private static let addresses = "stun:HOST[:PORT], turn:HOST[:PORT][?transport=tcp] or turns:HOST[:PORT]"

    /// Returns the configuration, whose values are each allowed.
    func configuration(_ value: JSONValue) throws(InletError) -> RTCConfiguration {
        let members = try object(value, "", known: Key.allCases.map(\.rawValue))
        var configuration = RTCConfiguration()
        var servers: [Key: [ICEServer]] = [:]
        for member in members {
            guard let key = Key(rawValue: member.key) else { continue }
            if let rule = key.rule {
                configuration.set(try number(member.value, key, rule), for: key)
                continue
            }
            let path = key.rawValue
            switch key {
            case .rateControl: configuration.rateControl = try rateControl(member.value, path)
            case .relayOnly: configuration.isRelayOnly = try boolean(member.value, path)
            case .stunServers:
                for (index, item) in try list(member.value, path).enumerated() {
                    servers[key, default: []].append(try stunServer(item, "\(path)[\(index)]"))
                }
            default:
                for (index, item) in try list(member.value, path).enumerated() {
                    servers[key, default: []] += try self.servers(
                        item, "\(path)[\(index)]", areRelays: key == .turnServers)
                }
            }
        }
        // Some decoders have no order of keys.
        configuration.iceServers = Key.allCases.flatMap { servers[$0] ?? [] }
        return configuration
    }

    private func error(_ value: JSONValue, _ path: String, _ text: String) -> InletError {
        RTCConfiguration.error(file, line: value.line, key: path, text)
    }

    /// Returns the members of an object, none of which is unknown.
    private func object(_ value: JSONValue, _ path: String, known: [String]) throws(InletError) -> [JSONMember] {
        guard let members = value.members else { throw error(value, path, "it is \(value.kind); write an object") }
        for member in members where !known.contains(where: { $0.isSameBytes(as: member.key) }) {
            let name = String(decoding: member.key.utf8.prefix(64), as: UTF8.self)
            let advice =
                Spelling.nearest(to: name, among: known).map { "write \($0)" }
                ?? "leave it out; known are \(known.joined(separator: ", "))"
            throw error(member.value, Self.join(path, name), "there is no such key; \(advice)")
        }
        return members
    }

    private func number(
        _ value: JSONValue, _ key: Key, _ rule: RTCConfiguration.NumberRule
    ) throws(InletError) -> Double {
        guard let text = value.number, let number = Double(text) else {
            throw error(value, key.rawValue, "it is \(value.kind); write \(rule.words)")
        }
        guard rule.isAllowed(number) else {
            throw error(value, key.rawValue, "it is \(text); write \(rule.words)")
        }
        return number
    }

    private func boolean(_ value: JSONValue, _ path: String) throws(InletError) -> Bool {
        guard case .boolean(let boolean) = value.content else {
            throw error(value, path, "it is \(value.kind); write true or false")
        }
        return boolean
    }

    private func rateControl(_ value: JSONValue, _ path: String) throws(InletError) -> RateControl {
        let words = RateControl.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        guard let text = value.text else { throw error(value, path, "it is \(value.kind); write one of \(words)") }
        guard let control = RateControl(rawValue: text) else {
            throw error(value, path, "there is no such controller; write one of \(words)")
        }
        return control
    }

    private func list(_ value: JSONValue, _ path: String) throws(InletError) -> [JSONValue] {
        guard let elements = value.elements else { throw error(value, path, "it is \(value.kind); write a list") }
        guard elements.count <= RTCConfiguration.mostServers else {
            throw error(
                value, path, "it has \(elements.count) elements; write at most \(RTCConfiguration.mostServers)")
        }
        return elements
    }

    private func text(_ value: JSONValue, _ path: String) throws(InletError) -> String {
        guard let text = value.text else {
            throw error(value, path, "it is \(value.kind); write text in quotation marks")
        }
        guard !text.isEmpty else { throw error(value, path, "it is empty; write some text") }
        guard text.utf8.count <= Self.longestText else {
            throw error(value, path, "it has \(text.utf8.count) bytes; write at most \(Self.longestText)")
        }
        return text
    }

    private func stunServer(_ value: JSONValue, _ path: String) throws(InletError) -> ICEServer {
        let text = try text(value, path)
        let address = text.lowercasedASCII.hasBytePrefix("stun:") ? text : "stun:\(text)"
        guard let server = try? ICEServer(address) else {
            throw error(value, path, "it is no address of a STUN server; write HOST, HOST:PORT or stun:HOST:PORT")
        }
        return server
    }

    /// Returns the servers of one object in the form of W3C's `RTCIceServer`: one for each address.
    private func servers(
        _ value: JSONValue, _ path: String, areRelays: Bool
    ) throws(InletError) -> [ICEServer] {
        let members = try object(value, path, known: ["urls", "username", "credential"])
        func member(_ key: String) -> JSONValue? { members.first { $0.key == key }?.value }
        guard let urls = member("urls") else { throw error(value, "\(path).urls", "it is missing") }
        var login: [String: String] = [:]
        for key in ["username", "credential"] {
            if let value = member(key) { login[key] = try text(value, Self.join(path, key)) }
        }
        var servers: [ICEServer] = []
        if urls.elements == nil {
            servers.append(try server(urls, "\(path).urls", login, areRelays: areRelays))
        } else {
            for (index, url) in try list(urls, "\(path).urls").enumerated() {
                servers.append(try server(url, "\(path).urls[\(index)]", login, areRelays: areRelays))
            }
        }
        guard !servers.isEmpty else { throw error(urls, "\(path).urls", "it is empty; write \(Self.addresses)") }
        if servers.contains(where: { $0.scheme != .stun }) {
            for key in ["username", "credential"] where login[key] == nil {
                throw error(value, Self.join(path, key), "it is missing; a relay requires it")
            }
        } else if let key = ["username", "credential"].first(where: { login[$0] != nil }) {
            throw error(value, Self.join(path, key), "a STUN server does not heed it; relays do. Leave it out")
        }
        return servers
    }

    private func server(
        _ value: JSONValue, _ path: String, _ login: [String: String], areRelays: Bool
    ) throws(InletError) -> ICEServer {
        let text = try text(value, path)
        // Whether a relay has a login is checked for the object as a whole.
        guard
            var server = try? ICEServer(text, user: login["username"] ?? "", password: login["credential"] ?? "")
        else { throw error(value, path, "it is no address of a server; write \(Self.addresses)") }
        guard !areRelays || server.scheme != .stun else {
            throw error(value, path, "it is no address of a relay; write it as stunServers or iceServers")
        }
        if server.scheme == .stun { (server.user, server.password) = (nil, nil) }
        return server
    }

    private static func join(_ path: String, _ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}
