public import InletCore

/// The STUN and TURN servers that sessions are given, as they are configured.
///
/// Relays either have one user and password, or share a secret with this program, of which each session gets
/// credentials of its own that expire.
public struct ICEServers: Sendable, Hashable {
    /// Those that are used as they are.
    public var fixed: [ICEServer] = []
    /// Relays that take what is made of ``secret``. Their own user and password do not count.
    public var shared: [ICEServer] = []
    /// What ``shared`` relays are configured with; `static-auth-secret` of coturn.
    public var secret = ""
    /// How long credentials made of the secret are accepted. The default is a day; a session that is up then goes on.
    public var lifetime = Duration.seconds(86_400)
    /// Whether media goes through a relay in any case, so that the peer learns no address of this machine's. The
    /// default is false.
    public var isRelayOnly = false

    /// None.
    public init() {}

    /// Reads what options say.
    ///
    /// - Parameters:
    ///   - stun: addresses with commas between them, with or without `stun:`.
    ///   - turn: the same of relays, with `turn:`, `turns:` or nothing before.
    ///   - user: who this program is to the relays, with `password`.
    ///   - password: with `user`.
    ///   - secret: instead of both.
    ///   - isRelayOnly: whether relays alone are used. The default is false.
    /// - Throws: ``InletError/Code/invalidConfiguration`` where they contradict each other or an address is none.
    public init(
        stun: String?, turn: String?, user: String?, password: String?, secret: String?, isRelayOnly: Bool = false
    ) throws(InletError) {
        fixed = try Self.addresses(stun, scheme: "stun").map { address throws(InletError) in
            let server = try ICEServer(address, user: "", password: "")
            guard server.scheme == .stun else { throw Self.error("stun= takes STUN servers; relays are for turn=.") }
            return server
        }
        let relays = try Self.addresses(turn, scheme: "turn").map { address throws(InletError) in
            let server = try ICEServer(address, user: user ?? "", password: password ?? "")
            guard server.scheme != .stun else { throw Self.error("turn= takes relays; STUN servers are for stun=.") }
            return server
        }
        guard !relays.isEmpty || (user == nil && password == nil && secret == nil) else {
            throw Self.error("There are credentials for a relay, but no relay. Add turn=HOST:PORT.")
        }
        if let secret, !relays.isEmpty {
            guard user == nil, password == nil else {
                throw Self.error("turn-secret= stands instead of turn-user= and turn-password=, not beside them.")
            }
            self.secret = secret
            shared = relays
        } else {
            guard relays.isEmpty || (user?.isEmpty == false && password?.isEmpty == false) else {
                throw Self.error("A relay wants turn-user= and turn-password=, or turn-secret=.")
            }
            fixed += relays
        }
        self.isRelayOnly = isRelayOnly
        try validate()
    }

    /// - Throws: ``InletError/Code/invalidConfiguration`` where all is to go through a relay that is not there, or a
    ///   secret is missing.
    public func validate() throws(InletError) {
        guard !isRelayOnly || hasRelay else {
            throw Self.error("relay-only=true wants a relay. Add turn=HOST:PORT with its credentials.")
        }
        guard shared.isEmpty || !secret.isEmpty else { throw Self.error("The secret shared with a relay is empty.") }
    }

    /// Whether there are none.
    public var isEmpty: Bool { fixed.isEmpty && shared.isEmpty }

    /// Whether there is a relay among them.
    public var hasRelay: Bool { !shared.isEmpty || fixed.contains { $0.scheme != .stun } }

    /// The servers with credentials that are accepted from now on.
    ///
    /// - Parameters:
    ///   - name: whom they are for, as the log of the relay shows it.
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
    /// The same.
    public var debugDescription: String { description }
}
