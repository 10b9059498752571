import InletCore

/// Writing and authentication of requests.
extension ONVIFSession {
    /// Returns a request as it is sent, and records the credentials that it contains.
    func exchange(_ sent: inout Pending, at time: Int64, nonce: [UInt8]) -> Exchange {
        let endpoint = HTTPEndpoint(sent.url, userAgent: "Inlet")
        var security: [UInt8]?
        sent.hasToken = false
        if access == .token, mayAuthenticate, sent.request != .clock, let credentials = settings.credentials {
            security = UsernameToken.element(credentials, nonce: nonce, time: time &+ (clockOffset ?? 0))
            sent.hasToken = true
        }
        let body = sent.request.envelope(security: security, to: sent.url, references: events.references)
        var headers = RTSPHeaders()
        headers.append("Content-Type", sent.request.contentType)
        headers.append("Content-Length", "\(body.count)")
        headers.append("Connection", "close")
        if let authorization = sent.authorization { headers.append("Authorization", authorization) }
        return Exchange(
            url: sent.url, request: sent.request, bytes: endpoint.head("POST", version: "1.1", headers) + body)
    }

    /// Prepares the same request with credentials, after it was refused without them.
    ///
    /// - Throws: ``InletError/Code/authenticationFailed`` if no credentials are configured, or they were refused.
    mutating func refuse(_ sent: Pending, _ response: RTSPResponse) throws(InletError) {
        var again = sent
        (again.isDue, again.authorization) = (true, nil)
        let challenges = response.status == 401 ? response.headers.values("WWW-Authenticate") : []
        if sent.request == .clock { return takeClock(nil) }
        guard settings.credentials != nil, mayAuthenticate else {
            isRefused = true
            _ = authentication.take(challenges: challenges, sent: nil, wasAnsweringChallenge: false)
            throw authentication.error(.noCredentials)
        }
        if access != .token, !challenges.isEmpty {
            let outcome = authentication.take(
                challenges: challenges, sent: sent.authorization, wasAnsweringChallenge: sent.answersChallenge)
            if outcome == .retry {
                access = .http
                again.answersChallenge = true
                pending = again
                return
            }
        }
        if sent.hasToken { refusedTokens += 1 }
        // Some devices send an HTTP challenge, but accept only tokens.
        if access != .token {
            access = .token
            pending = again
        } else if !sent.hasToken || !isClockFresh && refusedTokens == 1 {
            // Either clock may have been set since the device's time was requested.
            clockOffset = nil
            pending = again
        } else if refusedTokens == 1, !usesOtherClock, let other = clock.otherOffset {
            // Not more often: devices lock accounts after a few wrong passwords.
            (usesOtherClock, clockOffset) = (true, other)
            pending = again
        } else {
            usesOtherClock = false
            isRefused = true
            throw authentication.error(.refused)
        }
    }

    /// Records that a request passed authentication.
    mutating func noteAcceptance(of sent: Pending) {
        if sent.authorization != nil { authentication.noteSuccess() }
        if sent.hasToken { (isClockFresh, refusedTokens) = (false, 0) }
    }

    /// Takes what the device states about its clock; nil if it states nothing, in which case the clocks are assumed to
    /// agree.
    mutating func takeClock(_ stated: DeviceClock?) {
        clock = stated ?? .same
        clockOffset = usesOtherClock ? clock.otherOffset ?? clock.offset : clock.offset
        isClockFresh = true
    }

    /// Returns the error for an HTTP status other than success.
    static func error(_ response: RTSPResponse, to request: ONVIFRequest) -> InletError {
        let said = "The ONVIF device answers \(request.name) with \(response.status)."
        switch response.status {
        case 403: return InletError(.authenticationFailed, "\(said) The user may lack the permission.")
        case 404, 405, 410: return InletError(.notFound, "\(said) Check the address of the device service.")
        case 500...599: return InletError(.serverUnavailable, "\(said) It has failed, or is busy.")
        default: return InletError(.unsupported, "\(said) Check the address of the device service.")
        }
    }
}

extension ONVIFSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The state of the session, without any secret.
    package var description: String { "ONVIF session with \(settings.device), profile found: \(profile != nil)" }

    /// The same as ``description``.
    package var debugDescription: String { description }

    /// A mirror without children, since `dump` would show credentials.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
