package import Foundation
import InletCore
package import InletRTC
import Synchronization

/// Signaling with a server by WHIP (RFC 9725) or WHEP: an offer is a POST, its response holds the answer, and the
/// end of the session is a DELETE. Safe from any thread.
///
/// Candidates are in the offer. Each flow of a session is a session of the server's; the previous one is deleted.
package final class WHIPChannel: SignalingChannel {
    package let incoming: AsyncStream<SignalingMessage>
    private let received: AsyncStream<SignalingMessage>.Continuation
    private let endpoint: URL
    private let token: String?
    private let state = Mutex(State())

    private struct State {
        /// The URL of the server's current session.
        var resource: URL?
        /// The ICE servers that the server named with it.
        var servers: [ICEServer] = []
        var wasAccepted = false
    }

    private static let offerLimit = Duration.seconds(8)
    private static let asideLimit = Duration.seconds(2)

    /// Returns the URL of an endpoint; nil if the text is not one with `http` or `https`, a host and no user.
    package static func endpoint(_ text: String) -> URL? {
        guard let url = URL(string: PercentEncoding.complete(address: text)),
            ["http", "https"].contains(url.scheme), url.host?.isEmpty == false, url.user == nil
        else { return nil }
        return url
    }

    package init(_ endpoint: URL, token: String?) {
        self.endpoint = endpoint
        self.token = token
        (incoming, received) = AsyncStream.makeStream(
            of: SignalingMessage.self, bufferingPolicy: .bufferingNewest(8))
    }

    /// Returns the servers of the response to OPTIONS, because credentials of relays expire; those of the last
    /// answer if it names none.
    package func iceServers() async -> [ICEServer] {
        let request = HTTPExchange.Request(
            method: "OPTIONS", url: endpoint, headers: authorization(endpoint), limit: Self.asideLimit)
        let links = (try? await HTTPExchange.perform(request)).map(Self.servers) ?? []
        return links.isEmpty ? state.withLock { $0.servers } : links
    }

    private static func servers(_ response: WHEPResponse) -> [ICEServer] {
        guard (200...299).contains(response.status) else { return [] }
        return response.headers.filter { $0.name == "link" }.flatMap { LinkHeader.servers(in: $0.value) }
    }

    package func send(_ message: SignalingMessage) async throws(SignalingFailure) {
        switch message {
        case .description(let offer): try await post(offer)
        case .candidate: break
        case .bye: await leave()
        }
    }

    package func close() async {
        received.finish()
        await leave()
    }

    private func post(_ offer: SessionDescription) async throws(SignalingFailure) {
        await leave()
        var place = endpoint
        var redirections = 0
        while true {
            let response: WHEPResponse
            do {
                response = try await HTTPExchange.perform(
                    HTTPExchange.Request(
                        method: "POST", url: place,
                        headers: [.init("content-type", "application/sdp"), .init("accept", "application/sdp")]
                            + authorization(place),
                        body: offer.sdp, limit: Self.offerLimit))
            } catch {
                // A server that has worked once is worth another attempt.
                let isFinal =
                    [.tlsFailed, .malformedData].contains(error.code) && !state.withLock { $0.wasAccepted }
                throw SignalingFailure(error, retryAfter: isFinal ? nil : .zero)
            }
            switch WHIPReply(response, redirections: redirections) {
            case .accepted(let session):
                try accept(session, at: place, offer)
                return
            case .redirected(let text):
                place = try target(text, from: place)
                redirections += 1
            case .refused(let refusal):
                // A server that has worked once is worth another attempt: one that restarts has no endpoint for a
                // moment.
                let isFinal = refusal.code == .authenticationFailed || !state.withLock { $0.wasAccepted }
                throw SignalingFailure(
                    InletError(
                        refusal.code, refusal.message,
                        context: .init(operation: "POST", nativeCode: Int32(clamping: response.status))),
                    retryAfter: refusal.retryAfter ?? (isFinal ? nil : .zero))
            }
        }
    }

    private func accept(
        _ session: WHIPReply.Session, at place: URL, _ offer: SessionDescription
    ) throws(SignalingFailure) {
        let resource = try target(session.location, from: place)
        state.withLock { $0 = State(resource: resource, servers: session.servers, wasAccepted: true) }
        received.yield(.description(SessionDescription(kind: .answer, sdp: session.answer, flow: offer.flow)))
    }

    /// Resolves the target of a redirect: never from HTTPS to HTTP, because others could then eavesdrop.
    private func target(_ text: String, from place: URL) throws(SignalingFailure) -> URL {
        guard let url = URL(string: text, relativeTo: place)?.absoluteURL, url.host?.isEmpty == false,
            url.scheme == "https" || (url.scheme == "http" && place.scheme == "http")
        else {
            throw SignalingFailure(
                InletError(
                    .malformedData,
                    "The server redirects to an address that is not valid, or less safe than its own."),
                retryAfter: nil)
        }
        return url
    }

    /// Returns the token's header if the token is meant for that server: another origin does not get it.
    private func authorization(_ url: URL) -> [WHEPResponse.Header] {
        guard let token, Self.origin(url) == Self.origin(endpoint) else { return [] }
        return [.init("authorization", "Bearer \(token)")]
    }

    private static func origin(_ url: URL) -> String {
        let scheme = url.scheme?.lowercasedASCII ?? ""
        return "\(scheme)://\(url.host?.lowercasedASCII ?? ""):\(url.port ?? (scheme == "https" ? 443 : 80))"
    }

    /// Ends the server's session, if there is one. A failure has no effect: the server gets no more messages from
    /// this side.
    private func leave() async {
        guard let resource = state.withLock({ $0.resource.take() }) else { return }
        let request = HTTPExchange.Request(
            method: "DELETE", url: resource, headers: authorization(resource), limit: Self.asideLimit)
        _ = try? await HTTPExchange.perform(request)
    }
}
