import InletCore

/// Decides how a WHEP endpoint, to which viewers connect, responds to a request. Pure: it opens and closes nothing.
///
/// Follows draft-ietf-wish-whep and, for what both share, RFC 9725 (WHIP). Whether a client may connect at all is
/// checked before.
package struct WHEPEndpoint: Sendable, Hashable {
    /// The path that offers are posted to. The default is `/whep`; sessions are below it.
    package var path = "/whep"
    /// The maximum number of sessions at a time. The default is 100.
    package var sessions = 100
    /// The maximum number of one client's sessions at a time. The default is 25.
    package var sessionsPerClient = 25
    /// The maximum size of a description or a fragment in bytes. The default is 65536; browsers send some 4000.
    package var bytes = 65_536
    /// Origins of other sites whose pages may connect, or `*`. Empty by default.
    package var origins: [String] = []
    /// Whether there is something to see. If not, an offer is answered with 409 and the time of a retry
    /// (draft-ietf-wish-whep, 4.2). The default is true.
    package var isPublished = true
    /// The word for connecting clients in refusals. The default is `viewers`.
    package var clients = "viewers"
    /// The servers that viewers get in `Link` headers. Only clients that may connect should see their credentials.
    package var servers: [ICEServer] = []

    /// Creates an endpoint with the default of each.
    package init() {}

    /// The reaction to a request.
    package enum Decision: Sendable, Hashable {
        /// Send this response.
        case respond(WHEPResponse)
        /// Read the body, up to the given number of bytes, then decide again.
        case read(Int)
        /// Open a session for this offer, then send ``WHEPEndpoint/opened(_:tag:answer:to:)`` or
        /// ``WHEPEndpoint/failed(_:to:)``.
        case open(String)
        /// Add these candidates to a session, and send the response.
        case trickle(session: String, TrickleFragment, WHEPResponse)
        /// Close a session, and send the response.
        case close(session: String, WHEPResponse)
    }

    /// The properties of a session that requests refer to.
    package struct Session: Sendable, Hashable {
        /// The ETag, without quotes: it stays the same while the ICE credentials do.
        package var tag: String
        /// The peer's ICE user name fragment: a trickle fragment with another one is a restart.
        package var userFragment: String

        package init(tag: String, userFragment: String) {
            self.tag = tag
            self.userFragment = userFragment
        }
    }

    static let fragmentType = "application/trickle-ice-sdpfrag"

    /// Returns whether a path is this endpoint's, or one of its sessions'.
    package func serves(_ path: String) -> Bool {
        isEndpoint(path) || path.utf8.starts(with: "\(self.path)/".utf8)
    }

    private func isEndpoint(_ path: String) -> Bool { path.utf8.elementsEqual(self.path.utf8) }

    /// Returns the reaction to a request.
    ///
    /// - Parameters:
    ///   - request: the client's request.
    ///   - isWhole: whether its body was read.
    ///   - occupancy: the open sessions, and the time until the client may open another.
    ///   - session: looks up a session by its name.
    package func decide(
        _ request: WHEPRequest, isWhole: Bool, _ occupancy: QuotaOccupancy, session: (String) -> Session?
    ) -> Decision {
        let decision =
            isEndpoint(request.path)
            ? decideAtEndpoint(request, isWhole: isWhole, occupancy)
            : decideAtSession(request, isWhole: isWhole, session)
        return switch decision {
        case .respond(let response): .respond(allowing(request, response))
        case .trickle(let name, let fragment, let response):
            .trickle(session: name, fragment, allowing(request, response))
        case .close(let name, let response): .close(session: name, allowing(request, response))
        default: decision
        }
    }

    // MARK: The endpoint

    private func decideAtEndpoint(_ request: WHEPRequest, isWhole: Bool, _ occupancy: QuotaOccupancy) -> Decision {
        switch request.method {
        case "OPTIONS":
            return .respond(
                WHEPResponse(
                    status: 204,
                    headers: [.init("allow", "POST, OPTIONS"), .init("accept-post", "application/sdp")] + links
                ))
        case "POST": break
        default:
            return .respond(.refusal(405, "An offer is posted here.", [.init("allow", "POST, OPTIONS")]))
        }
        guard request.isOfType("application/sdp") else {
            return .respond(
                .refusal(415, "An offer is of the type application/sdp.", [.init("accept-post", "application/sdp")]))
        }
        if let refusal = tooLong(request) { return .respond(refusal) }
        guard isPublished else {
            return .respond(.refusal(409, "The camera is off.", [.init("retry-after", "2")]))
        }
        guard occupancy.all < sessions else {
            return .respond(Self.full(clients))
        }
        guard occupancy.own < sessionsPerClient else {
            return .respond(
                .refusal(
                    429, "There are as many \(clients) at one address as there may be.", [.init("retry-after", "5")]))
        }
        if let wait = occupancy.wait {
            let seconds = wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0)
            return .respond(.refusal(429, "Too many come at once.", [.init("retry-after", "\(max(1, seconds))")]))
        }
        guard isWhole else { return .read(bytes) }
        return .open(request.body)
    }

    /// Returns the response to an offer whose session is open.
    package func opened(_ session: String, tag: String, answer: String, to request: WHEPRequest) -> WHEPResponse {
        allowing(
            request,
            WHEPResponse(
                status: 201,
                headers: [
                    .init("content-type", "application/sdp"), .init("location", "\(path)/\(session)"),
                    .init("etag", "\"\(tag)\""), .init("accept-patch", Self.fragmentType),
                ] + links, body: answer))
    }

    /// Returns the response to an offer that could not be answered.
    package func failed(_ end: PeerSessionEnd, to request: WHEPRequest) -> WHEPResponse {
        let status =
            switch end {
            case .failed(.malformedDescription): 400
            case .failed(.noCommonCodec): 422
            case .failed(.limit): 413
            case .failed(.noRelay), .failed(.relayTLS): 502
            case .timedOut: 504
            case .local: 503
            default: 500
            }
        return allowing(request, .refusal(status, end.error?.message ?? "The server is about to end."))
    }

    /// Returns the response to an offer when all places are taken.
    package func full(_ request: WHEPRequest) -> WHEPResponse { allowing(request, Self.full(clients)) }

    private static func full(_ clients: String) -> WHEPResponse {
        .refusal(503, "There are as many \(clients) as there may be.", [.init("retry-after", "5")])
    }

    /// Returns the response to an offer of a client that was not admitted; nil for one that was.
    package func refused(_ decision: AdmissionDecision, to request: WHEPRequest) -> WHEPResponse? {
        switch decision {
        case .accept: return nil
        case .decline(let reason):
            let text = reason?.sanitized(limit: CallMessage.longestReason)
            return allowing(request, .refusal(403, text ?? "Not everyone is let in here."))
        case .busy(let wait):
            let seconds = wait.map { $0.components.seconds + ($0.components.attoseconds > 0 ? 1 : 0) }
            let headers = seconds.map { [WHEPResponse.Header("retry-after", "\(max(1, $0))")] } ?? []
            return allowing(request, .refusal(503, "There is no place now. Try again later.", headers))
        }
    }

    private var links: [WHEPResponse.Header] { servers.map { .init("link", LinkHeader.text($0)) } }

    private func tooLong(_ request: WHEPRequest) -> WHEPResponse? {
        guard max(request.length ?? 0, request.body.utf8.count) > bytes else { return nil }
        return .refusal(413, "A description has at most \(bytes) bytes here.")
    }

    // MARK: Sessions

    private func decideAtSession(_ request: WHEPRequest, isWhole: Bool, _ session: (String) -> Session?) -> Decision {
        let name = String(Substring(request.path.utf8.dropFirst(path.utf8.count + 1)))
        guard !name.utf8.contains(UInt8(ascii: "/")), let known = session(name) else {
            return .respond(.refusal(404, "There is no such session. It may be over."))
        }
        let allow = WHEPResponse.Header("allow", "PATCH, DELETE, OPTIONS")
        switch request.method {
        case "OPTIONS":
            return .respond(WHEPResponse(status: 204, headers: [allow, .init("accept-patch", Self.fragmentType)]))
        case "DELETE": return .close(session: name, WHEPResponse(status: 200))
        case "PATCH": break
        default: return .respond(.refusal(405, "A session takes PATCH and DELETE.", [allow]))
        }
        guard request.isOfType(Self.fragmentType) else {
            return .respond(
                .refusal(
                    415, "Candidates are of the type \(Self.fragmentType).", [.init("accept-patch", Self.fragmentType)])
            )
        }
        if let refusal = tooLong(request) { return .respond(refusal) }
        // For a restart, the tag is `*`: the client does not know which credentials are in force (RFC 9725, 4.3.3).
        guard let match = request.headers["if-match"] else {
            return .respond(.refusal(428, "Candidates come with the session's ETag, in If-Match."))
        }
        let isAny = match.utf8.elementsEqual("*".utf8)
        guard isAny || Self.tags(match).contains(Array(known.tag.utf8)) else {
            return .respond(.refusal(412, "The ETag is not that of the session."))
        }
        guard isWhole else { return .read(bytes) }
        let fragment: TrickleFragment
        do {
            fragment = try TrickleFragment(request.body)
        } catch {
            return .respond(.refusal(error == .limit ? 413 : 400, "The body is not an SDP fragment for trickle ICE."))
        }
        if isAny || fragment.userFragment.map({ !$0.utf8.elementsEqual(known.userFragment.utf8) }) == true {
            return .respond(.refusal(422, "A session here is not restarted. Open another."))
        }
        return .trickle(session: name, fragment, WHEPResponse(status: 204))
    }

    /// Returns the tags of `"a", "b"`. Weak ones match nothing here (RFC 9110, 13.1.1).
    private static func tags(_ text: String) -> [[UInt8]] {
        let quote = UInt8(ascii: "\"")
        return text.utf8.split(separator: UInt8(ascii: ",")).compactMap { item in
            let tag = TextBytes.trimmed(item)
            return tag.count >= 2 && tag.first == quote && tag.last == quote ? Array(tag.dropFirst().dropLast()) : nil
        }
    }

    // MARK: Other sites

    private func allowing(_ request: WHEPRequest, _ response: WHEPResponse) -> WHEPResponse {
        guard let origin = request.headers["origin"],
            origins.contains(where: { $0.isSameBytes(as: "*") || $0.isSameBytes(as: origin) })
        else { return response }
        var response = response
        response.headers += [.init("access-control-allow-origin", origin), .init("vary", "origin")]
        if request.method == "OPTIONS" {
            response.headers += [
                .init("access-control-allow-methods", "POST, PATCH, DELETE, OPTIONS"),
                .init("access-control-allow-headers", "authorization, content-type, if-match"),
                .init("access-control-max-age", "600"),
            ]
        } else {
            response.headers.append(
                .init("access-control-expose-headers", "location, etag, link, accept-patch, retry-after"))
        }
        return response
    }
}
