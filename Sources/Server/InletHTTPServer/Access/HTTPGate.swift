import Glibc
import InletCore
import InletSystem
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// Decides for all connections of a server which clients may view and which connections are kept. Safe from any thread.
final class HTTPGate: Sendable {
    /// The decision about a request.
    enum Decision {
        /// The request is served, after a delay.
        case served(isKnown: Bool, after: TimeAmount)
        /// The request is refused, after a delay.
        case refused(HTTPAnswer, after: TimeAmount)
    }

    private struct State {
        var ledger: ConnectionLedger
        var channels: [ConnectionLedger.ID: any Channel] = [:]
    }

    private let access: AccessRule
    private let clients: ClientLedger
    private let log: RepeatedLog
    private let state: Mutex<State>
    /// The most connections of one client that have not presented the token. Enough for two browsers.
    private static let strangersPerClient = 12
    /// The delay after a wrong token. It slows down clients that try tokens one after the other.
    private static let wrongTokenDelay = TimeAmount.milliseconds(500)

    /// - Parameters:
    ///   - connections: the most connections at a time.
    ///   - clients: counts wrong tokens and requests.
    init(_ access: AccessRule, connections: Int, clients: ClientLedger = ClientLedger(), logger: Logger) {
        self.access = access
        self.clients = clients
        log = RepeatedLog(logger, interval: .seconds(10))
        state = Mutex(
            State(ledger: ConnectionLedger(maximum: connections, strangersPerClient: Self.strangersPerClient)))
    }

    // MARK: Connections

    /// Admits a new connection. Another connection may be closed to make room.
    ///
    /// - Parameter isProxy: whether the connection is from a trusted proxy, whose connections serve many clients.
    /// - Returns: the connection's identifier; nil if the server is full.
    func admit(_ channel: any Channel, isProxy: Bool = false) -> ConnectionLedger.ID? {
        let (id, replaced) = state.withLock { state -> (ConnectionLedger.ID?, (any Channel)?) in
            let client = ClientAddress(channel.remoteAddress)
            switch state.ledger.admit(client, isKnown: access.token == nil || isProxy) {
            case .admitted(let id):
                state.channels[id] = channel
                return (id, nil)
            case .replaces(let old, by: let id):
                state.channels[id] = channel
                return (id, state.channels.removeValue(forKey: old))
            case .refused: return (nil, nil)
            }
        }
        replaced?.close(promise: nil)
        return id
    }

    func set(_ activity: ConnectionLedger.Activity, of id: ConnectionLedger.ID) {
        state.withLock { $0.ledger.set(activity, of: id) }
    }

    func remove(_ id: ConnectionLedger.ID) {
        // The channel is returned so that it is not released under the lock.
        _ = state.withLock { state in
            state.ledger.remove(id)
            return state.channels.removeValue(forKey: id)
        }
    }

    // MARK: Requests

    /// Counts a TLS handshake as a request and returns whether it is served.
    func mayBegin(_ client: ClientAddress) -> Bool {
        let now = MonotonicTime.now
        guard clients.noteRequest(from: client, at: now) != nil else { return true }
        log.log(.warning, "Too many requests came from \(client)", key: "requests")
        return false
    }

    /// Decides whether a request is served.
    ///
    /// - Parameters:
    ///   - isPublic: whether the request needs no token.
    ///   - isProxied: whether a trusted proxy sent it, which may pass on the host that its client named.
    func decide(
        _ request: HTTPRequest, from client: ClientAddress, of id: ConnectionLedger.ID, isPublic: Bool,
        isProxied: Bool = false
    ) -> Decision {
        let now = MonotonicTime.now
        if let wait = clients.noteRequest(from: client, at: now) {
            log.log(.warning, "Too many requests came from \(client)", key: "requests")
            return .refused(Self.tooMany("Too many requests came from this address.", wait), after: .zero)
        }
        guard isProxied || access.isOfThisHost(request) else {
            let text =
                "This page is only for this machine. To reach it through a proxy, give the server a token and the "
                + "proxy's address."
            return .refused(.text(text, .misdirectedRequest), after: .zero)
        }
        let claim = access.claim(of: request, at: Self.seconds)
        let count = access.count(of: request)
        let wait = wait(for: count, from: client, at: now)
        let delay = count.wrong > 0 ? Self.wrongTokenDelay : .zero
        let isKnown = claim.isEnough && wait == nil
        if isKnown, let wait = waitOfToken(of: request, at: now) {
            return .refused(Self.tooMany("Too many requests came with this token.", wait), after: .zero)
        }
        state.withLock { $0.ledger.set(isKnown: isKnown, of: id) }
        if isKnown || claim == .nothing && isPublic { return .served(isKnown: isKnown, after: delay) }
        if let wait {
            return .refused(Self.tooMany("Too many wrong tokens came from this address.", wait), after: .zero)
        }
        var answer = HTTPAnswer.text(
            "Open this page with ?token=, or send the token as a bearer token.", .unauthorized)
        answer.headers.add(name: "www-authenticate", value: "Bearer")
        return .refused(answer, after: delay)
    }

    private static func tooMany(_ text: String, _ wait: Duration) -> HTTPAnswer {
        var answer = HTTPAnswer.text(text, .tooManyRequests)
        answer.headers.add(name: "retry-after", value: "\(wait.components.seconds + 1)")
        return answer
    }

    /// Counts a request with a token or with the cookie of one.
    ///
    /// - Returns: how long the client must wait; nil if the request is served.
    private func waitOfToken(of request: HTTPRequest, at now: MonotonicTime) -> Duration? {
        guard let grant = access.grant(of: request, at: Self.seconds) else { return nil }
        let wait = clients.noteRequest(with: grant.token, at: now)
        if wait != nil {
            log.log(.warning, "Too many requests came with the token \(grant.name ?? "of the server")", key: "token")
        }
        return wait
    }

    /// Counts wrong tokens. A wrong token next to a right credential counts too: it may be a guess at a token with a
    /// wider scope.
    ///
    /// - Returns: how long the client must wait before its next token is checked; nil if all were checked. A request
    ///   with only a cookie, or with a token that cannot be guessed, is always checked, regardless of the server's
    ///   other tokens. Clients that share an address with a guesser are therefore not locked out.
    private func wait(
        for count: (guesses: Int, wrong: Int), from client: ClientAddress, at now: MonotonicTime
    ) -> Duration? {
        guard count.guesses > 0 else { return nil }
        let wait = clients.noteSecrets(
            wrong: count.wrong, isGuessable: access.isGuessable, from: client, at: now)
        if count.wrong > 0 || wait != nil {
            log.log(.warning, "A wrong token came from \(client)", key: "wrong token")
        }
        return wait
    }

    /// Returns the header that sets a cookie for a browser that presented the token; nil if the request presented none.
    func cookieHeader(for request: HTTPRequest, takesBearer: Bool = false) -> String? {
        access.cookieHeader(for: request, takesBearer: takesBearer, at: Self.seconds)
    }

    /// Returns the widest scope among the request's tokens; nil if it presents none or none is required.
    func scope(of request: HTTPRequest) -> AccessScope? { access.scope(of: request, at: Self.seconds) }

    /// Returns the name of the request's token; nil if it presents none or the token has no name.
    func tokenName(of request: HTTPRequest) -> String? { access.grant(of: request, at: Self.seconds)?.name }

    /// Logs the lines that were held back.
    func close() { log.flush() }

    private static var seconds: Int { time(nil) }
}
