public import InletCore

/// The configured STUN and TURN servers of sessions.
///
/// Relays either have one user name and password, or share a secret with this program, from which each session gets its
/// own expiring credentials.
public struct ICEServers: Sendable, Hashable {
    /// The servers that are used unchanged.
    public var fixed: [ICEServer] = []
    /// The relays that accept credentials made from ``secret``. Their own user name and password are ignored.
    public var shared: [ICEServer] = []
    /// The secret that the ``shared`` relays are configured with; `static-auth-secret` of coturn.
    public var secret = ""
    /// The lifetime of credentials made from the secret. The default is a day; connected sessions outlast it.
    public var lifetime = Duration.seconds(86_400)
    /// How the certificates of relays over TLS are checked. The default is by the system's authorities.
    public var tls = RelayTLS()
    /// Whether media always goes through a relay, so that the peer learns no address of this machine. The default is
    /// false.
    public var isRelayOnly = false

    /// Creates an empty list.
    public init() {}

    /// Reads the values of options.
    ///
    /// - Parameters:
    ///   - stun: addresses separated by commas, with or without `stun:`.
    ///   - turn: the same for relays, with `turn:`, `turns:` or no prefix.
    ///   - user: the user name for the relays, with `password`.
    ///   - password: the password for the relays, with `user`.
    ///   - secret: replaces both.
    ///   - isRelayOnly: whether only relays are used. The default is false.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if they contradict each other or an address is invalid.
    public init(
        stun: String?, turn: String?, user: String?, password: String?, secret: String?, isRelayOnly: Bool = false
    ) throws(InletError) {
        fixed = try Self.addresses(stun, scheme: "stun").map { address throws(InletError) in
            let server = try ICEServer(address, user: "", password: "")
            guard server.scheme == .stun else { throw Self.error("stun= takes STUN servers. Use turn= for relays.") }
            return server
        }
        let relays = try Self.addresses(turn, scheme: "turn").map { address throws(InletError) in
            let server = try ICEServer(address, user: user ?? "", password: password ?? "")
            guard server.scheme != .stun else { throw Self.error("turn= takes relays. Use stun= for STUN servers.") }
            return server
        }
        guard !relays.isEmpty || (user == nil && password == nil && secret == nil) else {
            throw Self.error("Credentials for a relay are given, but no relay. Add turn=HOST:PORT.")
        }
        if let secret, !relays.isEmpty {
            guard user == nil, password == nil else {
                throw Self.error("turn-secret= replaces turn-user= and turn-password=. Give one or the other.")
            }
            self.secret = secret
            shared = relays
        } else {
            guard relays.isEmpty || (user?.isEmpty == false && password?.isEmpty == false) else {
                throw Self.error("A relay requires turn-user= and turn-password=, or turn-secret=.")
            }
            fixed += relays
        }
        self.isRelayOnly = isRelayOnly
        try validate()
    }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if only relays may be used and the list has none, or a secret
    ///   is missing.
    public func validate() throws(InletError) {
        guard !isRelayOnly || hasRelay else {
            throw Self.error("relay-only=true requires a relay. Add turn=HOST:PORT with its credentials.")
        }
        try validateBesideSignaling()
    }

    /// Checks the configuration of a session whose signaling may name relays, too.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if a secret is missing.
    package func validateBesideSignaling() throws(InletError) {
        guard shared.isEmpty || !secret.isEmpty else { throw Self.error("The secret shared with a relay is empty.") }
    }

    /// Whether there are no servers.
    public var isEmpty: Bool { fixed.isEmpty && shared.isEmpty }

    /// Whether there is a relay among the servers.
    public var hasRelay: Bool { !shared.isEmpty || fixed.contains { $0.scheme != .stun } }

    /// The message for users if no relay provided an address, which ends the session only with ``isRelayOnly``.
    package var noRelayWarning: String {
        guard !isRelayOnly else { return PeerSessionFailure.noRelay.advice }
        let relays = (fixed.filter { $0.scheme != .stun } + shared).map(\.uri).joined(separator: ", ")
        return "No relay of \(relays) provided an address: only paths without a relay are tried. "
            + PeerSessionFailure.noRelayCauses
    }

    /// Returns the servers with credentials that are accepted from now on.
    ///
    /// - Parameters:
    ///   - name: the user of the credentials, as the relay's log shows it.
    ///   - now: seconds since 1970.
    public func list(for name: String, now: Int) -> [ICEServer] {
        guard !shared.isEmpty else { return fixed }
        let credentials = RelayCredentials(secret: secret, name: name, now: now, lifetime: lifetime)
        return fixed
            + shared.map { server in
                var server = server
                (server.user, server.password) = (credentials.user, credentials.password)
                return server
            }
    }

    private static func addresses(_ list: String?, scheme: String) -> [String] {
        (list ?? "").utf8.split(separator: UInt8(ascii: ",")).map { item in
            let begin = TextBytes.lowercased(item.prefix { $0 != UInt8(ascii: ":") })
            let hasScheme = ICEServer.Scheme.allCases.contains { $0.rawValue.utf8.elementsEqual(begin) }
            return hasScheme ? String(Substring(item)) : "\(scheme):\(Substring(item))"
        }
    }

    private static func error(_ message: String) -> InletError { InletError(.invalidConfiguration, message) }
}

extension ICEServers: CustomStringConvertible, CustomDebugStringConvertible {
    /// The addresses, without credentials.
    public var description: String { (fixed + shared).map(\.uri).joined(separator: ", ") }
    /// The same as ``description``.
    public var debugDescription: String { description }
}
