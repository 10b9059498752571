import InletCore

/// Redirections, failures and the end.
extension RTSPSession {
    // MARK: Redirections

    /// Follows a redirection; returns nil if the response is none.
    mutating func redirected(by response: RTSPResponse, at now: MonotonicTime) -> [Action]? {
        guard [301, 302, 303, 305, 307, 308].contains(response.status) else { return nil }
        guard let location = response.headers.first("Location"), let target = url.redirected(to: location) else {
            return fail(
                InletError(.malformedData, "The server redirects (\(response.statusText)) to no valid address."),
                .never, at: now)
        }
        redirects += 1
        guard redirects <= configuration.mostRedirects else {
            return fail(
                InletError(
                    .malformedData,
                    "The server redirects more than \(configuration.mostRedirects) times in a row, and never to a stream."
                ),
                .never, at: now)
        }
        guard target.isSecure || !url.isSecure else {
            return fail(
                InletError(
                    .tlsFailed,
                    "The server redirects to \(target), where others can read and change the stream."),
                .never, at: now)
        }
        // Credentials in the address that the server names are its own invention, and are not sent.
        if !target.hasSameOrigin(as: url), configuration.redirectCredentials == .sameOrigin { credentials = nil }
        // A session may exist if SETUP or PLAY was redirected.
        let teardown = session.map { _ in Request(method: .teardown, uri: aggregate.requestURI) }
        let farewell = teardown.map { write($0, at: now, answersChallenge: false, isLast: true).0 }
        url = target
        url.credentials = nil
        authentication = RTSPAuthentication(
            credentials: credentials, isEncrypted: url.isSecure, basic: configuration.basic,
            clientNonce: configuration.clientNonce)
        let closesPorts = ports != nil
        return (farewell.map { [.send($0)] } ?? []) + (closesPorts ? [.closePorts] : []) + reconnect()
    }

    // MARK: Failures

    /// Ends the session because of an error.
    mutating func fail(_ error: InletError, _ retry: Retry, at now: MonotonicTime) -> [Action] {
        guard step != .closing, step != .closed else { return [] }
        noteEnd(at: now)
        return [.fail(error.about(url.description), retry)] + close(at: now)
    }

    /// Ends the session because of a status.
    mutating func fail(statusOf response: RTSPResponse, to method: RTSPMethod, at now: MonotonicTime) -> [Action] {
        let status = response.statusText
        let (code, retry, advice): (InletError.Code, Retry, String)
        switch response.status {
        case 403: (code, retry, advice) = (.authenticationFailed, .never, "The user may not see this stream.")
        case 404, 410: (code, retry, advice) = (.notFound, .never, "Is the path of the address right?")
        case 453: (code, retry, advice) = (.noBandwidth, .later, "It may serve no more clients at a time.")
        case 454:
            session = nil
            (code, retry, advice) = (.sessionLost, .anytime, "The server has forgotten the session.")
        case 461: (code, retry, advice) = (.unsupported, .never, "Try another transport.")
        case 503: (code, retry, advice) = (.serverUnavailable, .later, "It may serve no more clients at a time.")
        case 501, 505, 551: (code, retry, advice) = (.unsupported, .never, "The server does not know the request.")
        case 500...: (code, retry, advice) = (.serverUnavailable, .anytime, "The server failed.")
        case 408: (code, retry, advice) = (.timedOut, .anytime, "The server waited too long for the request.")
        default: (code, retry, advice) = (.unsupported, .never, "The server refuses the request.")
        }
        return fail(InletError(code, "\(method.rawValue) was answered with \(status). \(advice)"), retry, at: now)
    }

    // MARK: The end

    /// Ends the session: with TEARDOWN if the server has one, so that it does not keep a place for it.
    mutating func close(at now: MonotonicTime) -> [Action] {
        guard step != .closing else { return [] }
        pendingKeepAlives = []
        guard session != nil, step != .connecting else {
            pending = nil
            step = .closed
            return [.close]
        }
        // The answer to the previous request, if it still comes, is not that to TEARDOWN: the numbers differ.
        step = .closing
        return [send(Request(method: .teardown, uri: aggregate.requestURI), at: now, isLast: true)]
    }
}
