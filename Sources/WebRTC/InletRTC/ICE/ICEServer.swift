public import InletCore

/// A server that helps peers to find a path: a STUN server tells a peer its own address, a TURN server relays.
public struct ICEServer: Sendable, Hashable {
    /// The service of a server, and how it is reached.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// STUN, over UDP.
        case stun
        /// A relay, over UDP or TCP.
        case turn
        /// A relay, over TLS.
        case turns
    }

    /// The service, and how it is reached.
    public let scheme: Scheme
    /// The host name or address, without brackets.
    public let host: String
    /// The port.
    public let port: Int
    /// Whether a relay is reached over TCP; implied by TLS.
    public let usesTCP: Bool
    /// The user name, which a relay requires.
    public var user: String?
    /// The password. A secret.
    public var password: String?

    /// Reads `stun:HOST[:PORT]`, `turn:HOST[:PORT][?transport=tcp]` or `turns:HOST[:PORT]` (RFC 7064, RFC 7065).
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` with an explanation, which does not repeat what is before an
    ///   `@`.
    public init(_ uri: String, user: String? = nil, password: String? = nil) throws(InletError) {
        let parts = uri.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2,
            let scheme = Scheme.allCases.first(where: {
                $0.rawValue.utf8.elementsEqual(TextBytes.lowercased(parts[0]))
            })
        else { throw Self.error("An ICE server begins with stun:, turn: or turns:.") }
        let rest = parts[1].split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        let place = rest[0]
        guard !place.contains(UInt8(ascii: "@")) else {
            throw Self.error("The address of an ICE server holds no credentials. Give user and password apart from it.")
        }
        var tcp = scheme == .turns
        if rest.count == 2 {
            let wantsTCP = rest[1].elementsEqual("transport=tcp".utf8)
            guard scheme != .stun, wantsTCP || scheme == .turn && rest[1].elementsEqual("transport=udp".utf8) else {
                throw Self.error(
                    "'?\(Substring(rest[1]))' is not known after \(scheme.rawValue):. transport=udp or =tcp is.")
            }
            tcp = wantsTCP
        }
        let (host, port) = try Self.hostAndPort(place)
        self.scheme = scheme
        self.host = host
        self.port = port ?? (scheme == .turns ? 5349 : 3478)
        usesTCP = tcp
        self.user = user
        self.password = password
        guard scheme == .stun || (user != nil && password != nil) else {
            throw Self.error("The relay \(host) requires a user and a password.")
        }
    }

    private static func hostAndPort(_ place: Substring.UTF8View) throws(InletError) -> (String, Int?) {
        let isBracketed = place.first == UInt8(ascii: "[")
        let end =
            isBracketed
            ? place.firstIndex(of: UInt8(ascii: "]")).map { place.index(after: $0) } ?? place.endIndex
            : place.firstIndex(of: UInt8(ascii: ":")) ?? place.endIndex
        var host = place[..<end]
        var port: Int?
        if end < place.endIndex {
            let digits = place[end...].dropFirst()
            guard place[end] == UInt8(ascii: ":"), let number = TextBytes.number(digits, upTo: 65_535), number > 0
            else {
                throw error("'\(Substring(place))' is not HOST:PORT. Write IPv6 addresses in brackets.")
            }
            port = number
        }
        if isBracketed { host = host.last == UInt8(ascii: "]") ? host.dropFirst().dropLast() : host.prefix(0) }
        guard !host.isEmpty, host.allSatisfy(isPartOfHost) else {
            throw error("'\(Substring(place))' names no host. Write IPv6 addresses in brackets.")
        }
        return (String(Substring(host)), port)
    }

    private static func isPartOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The address in the form for browsers and `Link` headers, without credentials.
    public var uri: String {
        let place = host.contains(byte: ":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        return "\(scheme.rawValue):\(place)\(scheme == .turn && usesTCP ? "?transport=tcp" : "")"
    }

    /// The address in the form for GStreamer: `turn://USER:PASSWORD@HOST:PORT`, escaped. Holds the secret.
    public var engineURI: String {
        let place = host.contains(byte: ":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        guard scheme != .stun else { return "stun://\(place)" }
        let login = "\(Self.escaped(user ?? "")):\(Self.escaped(password ?? ""))@"
        return "\(scheme.rawValue)://\(login)\(place)\(scheme == .turn && usesTCP ? "?transport=tcp" : "")"
    }

    /// The address in the form for GStreamer of a way to this relay over TCP, at another address. Holds the secret.
    ///
    /// - Parameter host: a numeric address, of IPv6 in brackets.
    package func engineURI(by host: String, port: Int) -> String {
        "turn://\(Self.escaped(user ?? "")):\(Self.escaped(password ?? ""))@\(host):\(port)?transport=tcp"
    }

    private static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var escaped: [UInt8] = []
        for byte in text.utf8 {
            if isPartOfHost(byte) && byte != UInt8(ascii: ":") {
                escaped.append(byte)
            } else {
                escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func error(_ message: String) -> InletError { InletError(.invalidConfiguration, message) }
}

extension ICEServer: CustomStringConvertible, CustomDebugStringConvertible {
    /// The address, without credentials.
    public var description: String { uri }
    /// The same as ``description``.
    public var debugDescription: String { uri }
}
