package import InletCore
import Synchronization

/// Counts the wrong secrets and the requests of clients, for all ports of a server: a client that guesses at one of
/// them is also refused at the others. Safe from any thread.
package final class ClientLedger: Sendable {
    private struct State {
        var guesses = GuessLedger()
        /// Nil if there is no limit.
        var clients: RequestLedger<ClientAddress>?
        var tokens: RequestLedger<String>?
    }

    private let state: Mutex<State>

    /// - Parameter rates: how many requests are served. The default is without a limit.
    package init(_ rates: RequestRates = RequestRates()) {
        state = Mutex(
            State(
                clients: rates.perClient > 0 ? RequestLedger(rate: rates.perClient) : nil,
                tokens: rates.perToken > 0 ? RequestLedger(rate: rates.perToken) : nil))
    }

    /// Counts a request of a client.
    ///
    /// - Returns: how long the client must wait; nil if the request is served.
    package func noteRequest(from client: ClientAddress, at now: MonotonicTime) -> Duration? {
        state.withLock { $0.clients?.note(client, at: now) }
    }

    /// Counts a request with a token.
    ///
    /// - Returns: how long its client must wait; nil if the request is served.
    package func noteRequest(with token: String, at now: MonotonicTime) -> Duration? {
        state.withLock { $0.tokens?.note(token, at: now) }
    }

    /// Counts wrong secrets of a client.
    ///
    /// - Parameters:
    ///   - wrong: how many of the secrets that the client presents are wrong; may be 0.
    ///   - isGuessable: whether any secret of the server could be guessed by trying.
    /// - Returns: how long the client must wait before a secret of its is checked; nil if these were checked.
    package func noteSecrets(
        wrong: Int, isGuessable: Bool, from client: ClientAddress, at now: MonotonicTime
    ) -> Duration? {
        state.withLock { state in
            if isGuessable, let wait = state.guesses.wait(of: client, at: now) { return wait }
            for _ in 0..<wrong { state.guesses.note(client, at: now) }
            return nil
        }
    }
}
