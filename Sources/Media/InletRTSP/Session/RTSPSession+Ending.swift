import InletCore

/// Redirects, failures and the end.
extension RTSPSession {
    // MARK: Redirects

    /// Follows a redirect; returns nil if the response is not one.
    mutating func redirected(by response: RTSPResponse, at now: MonotonicTime) -> [Action]? {
        guard [301, 302, 303, 305, 307, 308].contains(response.status) else { return nil }
        return redirected(to: response.headers.first("Location"), by: response.statusText, at: now)
    }

    /// Follows a redirect to an address.
    ///
    /// - Parameter cause: what redirects, for the error: a status, or the request REDIRECT.
    mutating func redirected(to location: [UInt8]?, by cause: String, at now: MonotonicTime) -> [Action] {
        guard let location, let target = url.redirected(to: location) else {
            return fail(
                InletError(.malformedData, "The server redirects (\(cause)) to an invalid address."), at: now)
        }
        redirects += 1
        guard redirects <= configuration.mostRedirects else {
            return fail(
                InletError(
                    .malformedData,
                    "The server redirects more than \(configuration.mostRedirects) times in a row, and never to a stream."
                ), at: now)
        }
        guard target.isSecure || !url.isSecure else {
            return fail(
                InletError(
                    .tlsFailed,
                    "The server redirects from rtsps to \(target), where others can read and change the stream."),
                at: now)
        }
        // Credentials in the address that the server names are its own invention, and are not sent.
        if !target.hasSameOrigin(as: url), configuration.redirectCredentials == .sameOrigin { credentials = nil }
        // A session may exist if SETUP or PLAY was redirected.
        let teardown = session.map { _ in Request(method: .teardown, uri: aggregate.requestURI) }
        let farewell = teardown.map { write($0, at: now, answersChallenge: false, isLast: true).0 }
        let isSameOrigin = target.hasSameOrigin(as: url)
        let memory = isSameOrigin ? authentication.memory : RTSPAuthentication.Memory()
        if !isSameOrigin { beginsWithOptions = false }
        url = target
        url.credentials = nil
        authentication = RTSPAuthentication(
            credentials: credentials, isEncrypted: url.isSecure, basic: configuration.basic, memory: memory,
            clientNonce: configuration.clientNonce)
        let closesPorts = ports != nil
        let next = step == .paused ? suspend() : reconnect()
        return (farewell.map { [.send($0)] } ?? []) + (closesPorts ? [.closePorts] : []) + next
    }

    // MARK: Failures

    /// Ends the session because of an error.
    mutating func fail(_ error: InletError, at now: MonotonicTime) -> [Action] {
        guard step != .abandoningSetup, step != .closing, step != .closed else { return [] }
        noteEnd(at: now)
        return [.fail(error.about(url.description))] + close(at: now)
    }

    /// Ends the session because of a status.
    mutating func fail(statusOf response: RTSPResponse, to method: RTSPMethod, at now: MonotonicTime) -> [Action] {
        let status = response.statusText
        let (code, advice): (InletError.Code, String)
        switch response.status {
        case 403: (code, advice) = (.authenticationFailed, "The user lacks the permission for this stream.")
        case 404, 410: (code, advice) = (.notFound, "Is the path of the address right?")
        case 453: (code, advice) = (.noBandwidth, "It may serve no more clients at a time.")
        case 454:
            noteEnd(at: now)
            session = nil
            (code, advice) = (.sessionLost, "The server has forgotten the session.")
        case 461: (code, advice) = (.unsupported, "Try another transport.")
        case 503: (code, advice) = (.serverUnavailable, "It may serve no more clients at a time.")
        case 501, 505, 551: (code, advice) = (.unsupported, "The server does not know the request.")
        case 500...: (code, advice) = (.serverUnavailable, "The server failed.")
        case 408: (code, advice) = (.timedOut, "The server waited too long for the request.")
        default: (code, advice) = (.unsupported, "The server refuses the request.")
        }
        var error = InletError(code, "\(method.rawValue) was answered with \(status). \(advice)")
        error.retryAfter =
            response.headers.first("Retry-After").flatMap { RetryAfter.delay($0) }
            ?? ([453, 503].contains(response.status) ? RetryAfter.assumed : nil)
        return fail(error, at: now)
    }

    // MARK: The end

    /// Records that the server ended the session during a pause. Resuming then begins another session.
    mutating func suspend() -> [Action] {
        step = .suspended
        pending = nil
        pendingKeepAlives = []
        session = nil
        aliveSince = nil
        return []
    }

    /// Ends the session: with TEARDOWN if the server has one, so that it does not keep a place for it.
    mutating func close(at now: MonotonicTime) -> [Action] {
        guard step != .abandoningSetup, step != .closing else { return [] }
        pendingKeepAlives = []
        if step == .settingUp, session == nil, var pending {
            // TEARDOWN needs the session identifier, which is in the answer.
            step = .abandoningSetup
            pending.deadline = now + configuration.closeTimeout
            self.pending = pending
            return []
        }
        guard session != nil, step != .connecting else {
            pending = nil
            step = .closed
            return [.close]
        }
        // The answer to the previous request, if it still comes, is not that to TEARDOWN: the numbers differ.
        step = .closing
        return [send(Request(method: .teardown, uri: aggregate.requestURI), at: now, isLast: true)]
    }

    /// Takes the answer to SETUP after the session was closed, and ends the session that the server has created.
    mutating func abandonedSetupAnswered(_ response: RTSPResponse, at now: MonotonicTime) -> [Action] {
        session = response.headers.first("Session").flatMap { SessionHeader($0) }
        step = .settingUp
        return close(at: now)
    }
}
