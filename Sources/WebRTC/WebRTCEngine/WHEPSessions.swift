package import InletHTTPServer
package import InletRTC
import InletSystem

/// The sessions behind an endpoint of WHEP or WHIP. Safe from any thread.
package protocol WHEPSessions: Sendable {
    /// Called with the response when it is known.
    typealias Reply = @Sendable (WHEPResponse) -> Void
    /// Withdraws a request whose client has gone, if it still waits. Its reply, a refusal, is then called at once.
    typealias Withdrawal = @Sendable () -> Void

    /// Returns the endpoint as a client sees it.
    ///
    /// - Parameter isKnown: whether the client sent the token, or none is required.
    func endpoint(isKnown: Bool) -> WHEPEndpoint
    /// Returns the current occupancy as seen by a client.
    func occupancy(for client: ClientAddress) -> QuotaOccupancy
    /// Returns the session with a name; nil if no session has it.
    func session(_ name: String) -> WHEPEndpoint.Session?
    /// Opens a session for an offer. `reply` is called once, on any thread.
    func begin(_ sdp: String, for request: WHEPRequest, of client: ClientAddress, reply: @escaping Reply)
    /// Adds candidates of the peer to a session.
    func add(_ fragment: TrickleFragment, to session: String)
    /// Ends the session of a peer that leaves.
    func close(_ session: String)
    /// Reads the body of a request with the token, and performs it by ``perform(_:body:of:reply:)`` on a queue
    /// where parsing blocks no other request. Returns at once; `reply` is called once, on any thread.
    ///
    /// - Returns: a closure that withdraws the request; nil if it does not wait.
    func take(
        _ request: WHEPRequest, body: [UInt8], of client: ClientAddress, reply: @escaping Reply
    ) -> Withdrawal?
    /// The statistics of the page.
    var statisticsJSON: String { get }
}

extension WHEPSessions {
    /// Returns whether a path belongs to the endpoint.
    package func serves(_ path: String) -> Bool { endpoint(isKnown: false).serves(path) }

    /// Returns the reaction to a request, before its body is read or after.
    ///
    /// - Parameters:
    ///   - request: the client's request.
    ///   - client: the client.
    ///   - isWhole: whether its body was read.
    ///   - isKnown: whether it has the token, which a browser's preflight request does not.
    package func decide(
        _ request: WHEPRequest, of client: ClientAddress, isWhole: Bool, isKnown: Bool
    ) -> WHEPEndpoint.Decision {
        endpoint(isKnown: isKnown).decide(request, isWhole: isWhole, occupancy(for: client), session: session)
    }

    /// Performs a request whose body was read. `reply` is called once, on any thread.
    package func perform(
        _ request: WHEPRequest, body: [UInt8], of client: ClientAddress, reply: @escaping Reply
    ) {
        guard let text = String(validating: body, as: UTF8.self) else {
            return reply(.refusal(400, "The body is not UTF-8."))
        }
        var request = request
        request.body = text
        switch decide(request, of: client, isWhole: true, isKnown: true) {
        case .respond(let response): reply(response)
        case .read: reply(.refusal(400, "The body is missing."))
        case .trickle(let session, let fragment, let response):
            add(fragment, to: session)
            reply(response)
        case .close(let session, let response):
            close(session)
            reply(response)
        case .open(let sdp): begin(sdp, for: request, of: client, reply: reply)
        }
    }
}
