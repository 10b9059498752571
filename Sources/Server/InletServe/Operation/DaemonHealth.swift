package import InletCore
import InletHTTPServer

/// The health of a daemon, as its own server reports it.
package struct DaemonHealth: Sendable {
    private let address: WebhookAddress

    /// - Parameter address: the address of the daemon's page, such as `http://127.0.0.1:8080`.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if it is not an address of HTTP.
    package init(at address: String) throws(InletError) {
        self.address = try WebhookAddress(address)
        guard !self.address.target.contains(byte: "?") else {
            throw InletError(.invalidConfiguration, "The address has a query. Remove it: http://HOST:PORT.")
        }
    }

    /// Requests the health from the daemon. Supports cancellation.
    ///
    /// - Parameters:
    ///   - asksForReadiness: whether the daemon must also be ready. It is not ready before its cameras have started and
    ///     while it is shutting down.
    ///   - limit: the longest time to wait for the answer.
    /// - Throws: ``InletError`` if the daemon does not answer in time, or reports that it does not work.
    package func check(asksForReadiness: Bool, limit: Duration) async throws(InletError) {
        let page = address.appending(asksForReadiness ? "readyz" : "healthz")
        // A connection to this machine needs no proof, and a certificate may name only the outer address.
        let request = StatusExchange.Request(
            address: page, isVerified: !AccessRule.isLoopback(address.host), limit: limit)
        do throws(InletError) {
            let status = try await StatusExchange.send(request)
            guard status != 200 else { return }
            throw InletError(
                .serverUnavailable,
                status == 503 && asksForReadiness
                    ? "The daemon is not ready: its cameras have not started yet, or it is shutting down."
                    : "The server answers with the status \(status). Check that inlet serve is at this address.")
        } catch {
            throw error.about(address.description)
        }
    }
}
