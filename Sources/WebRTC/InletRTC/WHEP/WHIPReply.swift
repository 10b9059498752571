package import InletCore

/// How a WHIP client interprets the response to its offer (RFC 9725). Pure: it sends nothing.
package enum WHIPReply: Sendable, Hashable {
    /// The server accepted the offer.
    case accepted(Session)
    /// Post the same offer to this address. The token is sent only to the same host.
    case redirected(to: String)
    /// The server refused the offer. `retryAfter` is nil if a retry is pointless.
    case refused(Refusal)

    /// A session as the server describes it.
    package struct Session: Sendable, Hashable {
        /// The answer.
        package var answer: String
        /// The session's URL, to change and end it: an absolute address or a path.
        package var location: String
        /// The ETag that a PATCH must match; nil if the server accepts none.
        package var tag: String?
        /// The ICE servers that the server recommends.
        package var servers: [ICEServer]
    }

    /// The reason why the offer was refused.
    package struct Refusal: Sendable, Hashable {
        /// The error code, for programs.
        package var code: InletError.Code
        /// The description and the advice, for users.
        package var message: String
        /// The least wait before a retry; nil if a retry is pointless.
        package var retryAfter: Duration?
    }

    /// The maximum number of redirects that are followed.
    package static let mostRedirections = 5

    /// - Parameters:
    ///   - response: the server's response.
    ///   - redirections: how many redirects were followed already.
    package init(_ response: WHEPResponse, redirections: Int = 0) {
        switch response.status {
        case 201: self = Self.session(response)
        // The status codes that keep the method: a client that turned a POST into a GET would lose its offer.
        case 307, 308:
            guard let place = response.value(of: "location"), !place.isEmpty else {
                self = Self.refused(.malformedData, "The server redirects to nowhere.")
                return
            }
            guard redirections < Self.mostRedirections else {
                self = Self.refused(.malformedData, "The server redirects in circles.")
                return
            }
            self = .redirected(to: place)
        case 401, 403:
            self = Self.refused(.authenticationFailed, "The server refuses the token. Ask its operator for another.")
        case 404, 405, 410: self = Self.refused(.notFound, "There is no WHIP endpoint at this address.")
        case 406, 415, 422:
            self = Self.refused(.unsupported, "The server accepts nothing that is offered. Try another codec.")
        case 413: self = Self.refused(.resourceExhausted, "The offer is too long for the server.")
        case 408, 429, 500...599:
            let seconds = response.value(of: "retry-after").flatMap { TextBytes.number($0.utf8, upTo: .max) } ?? 0
            self = .refused(
                Refusal(
                    code: .serverUnavailable, message: "The server is currently unavailable (\(response.status)).",
                    retryAfter: .seconds(min(3600, seconds))))
        default: self = Self.refused(.malformedData, "The server answers \(response.status), which WHIP does not know.")
        }
    }

    private static func session(_ response: WHEPResponse) -> WHIPReply {
        guard let location = response.value(of: "location"), !location.isEmpty, !response.body.isEmpty,
            ContentType.isSame(response.value(of: "content-type"), as: "application/sdp")
        else { return refused(.malformedData, "The server accepted the offer, but sent no answer or no location.") }
        let tag = response.value(of: "etag").map { tag in
            String(decoding: tag.utf8.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        }
        return .accepted(
            Session(
                answer: response.body, location: location, tag: tag,
                servers: response.headers.filter { $0.name == "link" }.flatMap { LinkHeader.servers(in: $0.value) }))
    }

    private static func refused(_ code: InletError.Code, _ message: String) -> WHIPReply {
        .refused(Refusal(code: code, message: message))
    }
}
