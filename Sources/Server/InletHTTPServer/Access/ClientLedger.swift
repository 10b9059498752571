package import InletCore
import Synchronization

/// Counts clients' wrong secrets and requests across all ports of a server: a client that guesses on one port is also
/// refused on the others. Safe from any thread.
package final class ClientLedger: Sendable {
    private struct State {
        var guesses = GuessLedger()
        /// The requests of each client; nil if there is no limit.
        var clients: RequestLedger<ClientAddress>?
        var tokens: RequestLedger<String>?
    }

    private let state: Mutex<State>

    /// - Parameter rates: the limits on requests. The default is no limit.
    package init(_ rates: RequestRates = RequestRates()) {
        state = Mutex(
            State(
                clients: rates.perClient > 0 ? RequestLedger(rate: rates.perClient) : nil,
                tokens: rates.perToken > 0 ? RequestLedger(rate: rates.perToken) : nil))
    }

    /// Records a request of a client.
    ///
    /// - Returns: how long the client must wait; nil if the request is served.
    package func noteRequest(from client: ClientAddress, at now: MonotonicTime) -> Duration? {
        state.withLock { $0.clients?.note(client, at: now) }
    }

    /// Records a request with a token.
    ///
    /// - Returns: how long its client must wait; nil if the request is served.
    package func noteRequest(with token: String, at now: MonotonicTime) -> Duration? {
        state.withLock { $0.tokens?.note(token, at: now) }
    }

    /// Records a client's wrong secrets.
    ///
    /// - Parameters:
    ///   - wrong: how many of the presented secrets are wrong; may be 0.
    ///   - isGuessable: whether any secret of the server could be guessed by trying.
    /// - Returns: how long the client must wait before its next secret is checked; nil if these were checked.
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
