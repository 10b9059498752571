import InletCore
package import InletHTTPServer
import InletSystem
package import Logging
import Synchronization

/// Decides which connections the RTSP server keeps and which requests it answers, by the rules of the HTTP server. Both
/// servers share the counts of wrong secrets and of requests. Safe from any thread. Does not block.
package final class RestreamDoor: Sendable {
    /// The result of checking a request's login.
    package enum Login: Sendable, Equatable {
        /// The request presents no password.
        case none
        case wrong
        /// The request presents the password of this user.
        case right(String)
        /// The request presents the password of this user for an expired challenge, so it gets a new challenge.
        case expired(String)

        fileprivate var user: String? {
            switch self {
            case .none, .wrong: nil
            case .right(let user), .expired(let user): user
            }
        }
    }

    private struct Visitor {
        var address: ClientAddress
        /// Whether any request of the connection was allowed.
        var isAllowed = false
    }

    private struct State {
        var ledger: ConnectionLedger
        var visitors: [ConnectionLedger.ID: Visitor] = [:]
    }

    private let users: [String: String]
    private let isGuessable: Bool
    private let clients: ClientLedger
    private let log: RepeatedLog
    private let state: Mutex<State>
    /// The maximum number of connections of one client without an allowed request. A recorder opens one connection for
    /// each camera.
    private static let strangersPerClient = 32

    /// - Parameters:
    ///   - users: the passwords of the users by name.
    ///   - connections: the maximum number of connections at a time.
    ///   - clients: counts wrong passwords and requests.
    package init(users: [String: String], connections: Int, clients: ClientLedger, logger: Logger) {
        (self.users, self.clients) = (users, clients)
        isGuessable = users.values.contains(where: AccessRule.isGuessable)
        log = RepeatedLog(logger, interval: .seconds(10))
        state = Mutex(
            State(ledger: ConnectionLedger(maximum: connections, strangersPerClient: Self.strangersPerClient)))
    }

    /// Admits a new connection.
    ///
    /// - Parameter address: the client's numeric address.
    /// - Returns: the number of the connection, and the number of another connection that must be closed for it; nil if
    ///   the server is full.
    package func admit(_ address: String) -> (id: Int, replaced: Int?)? {
        let client = ClientAddress(address)
        return state.withLock { state in
            switch state.ledger.admit(client, isKnown: false) {
            case .admitted(let id):
                state.visitors[id] = Visitor(address: client)
                return (id, nil)
            case .replaces(let old, by: let id):
                state.visitors[old] = nil
                state.visitors[id] = Visitor(address: client)
                return (id, old)
            case .refused: return nil
            }
        }
    }

    /// Records that a request of a connection was allowed. The connection is no longer replaced by others.
    package func allow(_ id: Int) {
        state.withLock { state in
            guard state.visitors[id]?.isAllowed == false else { return }
            state.visitors[id]?.isAllowed = true
            state.ledger.set(isKnown: true, of: id)
            state.ledger.set(.answering, of: id)
        }
    }

    /// Removes a closed connection.
    package func leave(_ id: Int) {
        state.withLock { state in
            state.visitors[id] = nil
            state.ledger.remove(id)
        }
    }

    /// Counts a request and its login.
    ///
    /// - Returns: how long the client must wait; nil if the request is answered.
    package func wait(for login: Login, on id: Int) -> Duration? {
        // The connection was refused or replaced, and is about to be closed.
        guard let visitor = state.withLock({ $0.visitors[id] }) else { return .seconds(1) }
        let now = MonotonicTime.now
        let (client, secret) = (visitor.address, login.user.flatMap { users[$0] })
        // A recorder that has logged in may send many requests at once, because it starts to read all cameras.
        let crowd =
            visitor.isAllowed
            ? secret.flatMap { clients.noteRequest(with: $0, at: now) } : clients.noteRequest(from: client, at: now)
        if let crowd {
            log.log(.warning, "Too many RTSP requests from \(client)", key: "requests")
            return crowd
        }
        // A password that cannot be guessed is always checked, so that clients that share an address with a guesser are
        // not locked out.
        guard login != .none, secret.map(AccessRule.isGuessable) ?? true else { return nil }
        let wrong = login == .wrong ? 1 : 0
        let wait = clients.noteSecrets(wrong: wrong, isGuessable: isGuessable, from: client, at: now)
        if wrong > 0 || wait != nil {
            log.log(.warning, "Incorrect RTSP password from \(client)", key: "password")
        }
        return wait
    }
}
