import InletCore

/// The session while the stream plays: keep-alives, pauses, requests of the server.
extension RTSPSession {
    // MARK: Keep-alives

    /// Whether keep-alives are due: a session exists, and no other request is being made.
    var sendsKeepAlives: Bool { session != nil && (step == .playing || step == .paused) }

    /// Half of the session's time-out, of which at most a minute counts.
    var keepAliveInterval: Duration {
        let timeout = min(session?.timeout ?? SessionHeader.defaultTimeout, 60)
        return max(.seconds(timeout) / 2, .milliseconds(500))
    }

    mutating func sendKeepAlive(at now: MonotonicTime, answersChallenge: Bool = false) -> Action {
        // Some cameras answer only at the base address.
        let request = Request(method: keepAlive.next, uri: base.requestURI)
        let (bytes, sent) = write(request, at: now, answersChallenge: answersChallenge, isLast: false)
        pendingKeepAlives.append(sent)
        if pendingKeepAlives.count > 4 { pendingKeepAlives.removeFirst() }
        return .send(bytes)
    }

    mutating func keepAliveAnswered(_ request: Pending, _ response: RTSPResponse, at now: MonotonicTime) -> [Action] {
        guard sendsKeepAlives else { return [] }
        switch response.status {
        case 200..<300:
            authentication.noteSuccess()
            if request.request.method == .options {
                let isFirst = keepAlive.method == nil
                keepAlive.learn(PublicHeader.methods(in: response.headers.values("Public")))
                // With some servers OPTIONS keeps nothing alive, and the next request would come too late.
                if isFirst, keepAlive.method == .getParameter { return [sendKeepAlive(at: now)] }
            }
            return []
        case 401:
            // Some cameras ask again while they play, and stop if they get no answer.
            let outcome = authentication.take(
                challenges: response.headers.values("WWW-Authenticate"), sent: request.authorization,
                wasAnsweringChallenge: request.answersChallenge)
            return outcome == .retry ? [sendKeepAlive(at: now, answersChallenge: true)] : []
        case 405, 501, 551:
            return keepAlive.refuse(request.request.method) ? [sendKeepAlive(at: now)] : []
        case 454: return sessionForgotten(response, to: request.request.method, at: now)
        default: return []
        }
    }

    private mutating func sessionForgotten(
        _ response: RTSPResponse, to method: RTSPMethod, at now: MonotonicTime
    ) -> [Action] {
        guard step == .paused else { return fail(statusOf: response, to: method, at: now) }
        noteEnd(at: now)
        return suspend()
    }

    /// The time after an unanswered keep-alive within which the end of the connection counts as its answer.
    private static let hangUpTime = Duration.seconds(2)

    /// Records that the server closed the connection.
    mutating func noteHangUp(at now: MonotonicTime) {
        guard aliveSince != nil, let request = pendingKeepAlives.last,
            (.zero...Self.hangUpTime).contains(now - request.sent)
        else { return noteEnd(at: now) }
        aliveSince = nil
        keepAlive.noteHangUp(on: request.request.method)
    }

    /// Records that the session has ended, for the choice of the next session's keep-alives.
    mutating func noteEnd(at now: MonotonicTime) {
        guard let aliveSince, let session else { return }
        self.aliveSince = nil
        keepAlive.noteEnd(after: now - aliveSince, timeout: .seconds(min(session.timeout, 86_400)))
    }

    // MARK: Pauses

    /// Sends the request that the consumer's call to pause or resume requires, if it can be sent now.
    mutating func followWish(at now: MonotonicTime) -> [Action] {
        if wantsPause, step == .playing {
            step = .pausing
            return [send(Request(method: .pause, uri: aggregate.requestURI), at: now)]
        }
        if !wantsPause, step == .suspended { return reconnect() }
        if !wantsPause, step == .paused {
            isResuming = true
            // Without a range the stream continues from the position at which it was paused (RFC 2326, section 10.5).
            sendsRange = false
            return play(at: now)
        }
        return []
    }

    mutating func pauseAnswered(_ response: RTSPResponse, at now: MonotonicTime) -> [Action] {
        if response.status == 454 { return fail(statusOf: response, to: .pause, at: now) }
        guard response.isSuccess else {
            step = .playing
            wantsPause = false
            return [.pauseRefused]
        }
        step = .paused
        aliveSince = now
        nextKeepAlive = now + keepAliveInterval
        return [.paused] + followWish(at: now)
    }

    // MARK: Requests of the server

    mutating func answer(_ request: RTSPRequest, at now: MonotonicTime) -> [Action] {
        var headers = RTSPHeaders()
        if let number = request.headers.first("CSeq") { headers.append("CSeq", number.prefix(32)) }
        if let session { headers.append("Session", session.id) }
        func reply(_ status: Int, _ reason: String) -> Action {
            .send(RTSPRequestWriter.bytes(ofResponse: status, reason: reason, headers: headers))
        }
        switch String(decoding: request.method, as: UTF8.self) {
        case "OPTIONS":
            headers.append("Public", "OPTIONS, TEARDOWN, ANNOUNCE, GET_PARAMETER, REDIRECT")
            return [reply(200, "OK")]
        // RFC 2326, section 10.8: without a body it only checks that the client is alive.
        case "GET_PARAMETER" where request.body.isEmpty: return [reply(200, "OK")]
        case "REDIRECT": return redirected(by: request, reply, at: now)
        case "TEARDOWN": return [reply(200, "OK")] + streamEnded(at: now)
        case "ANNOUNCE":
            // On-demand servers announce the end of a stream by the notice 2101.
            let notice = request.headers.first("x-notice")?.prefix(4).elementsEqual("2101".utf8) ?? false
            return [reply(200, "OK")] + (notice ? streamEnded(at: now) : [])
        default: return [reply(501, "Not Implemented")]
        }
    }

    /// Follows the server's request REDIRECT (RFC 2326, section 10.10) at once: its `Range` states only when the server
    /// will stop.
    private mutating func redirected(
        by request: RTSPRequest, _ reply: (Int, String) -> Action, at now: MonotonicTime
    ) -> [Action] {
        guard let location = request.headers.first("Location") else { return [reply(400, "Bad Request")] }
        switch step {
        case .startingToPlay, .playing, .pausing, .paused: break
        // The server can redirect by its answer to the request that is under way.
        default: return [reply(455, "Method Not Valid in This State")]
        }
        // The count limits servers that redirect to each other without end.
        if let aliveSince, now - aliveSince >= Self.settledTime { redirects = 0 }
        return [reply(200, "OK")] + redirected(to: location, by: "REDIRECT", at: now)
    }

    /// The time for which a stream must have played until earlier redirects no longer count.
    private static let settledTime = Duration.seconds(10)

    private mutating func streamEnded(at now: MonotonicTime) -> [Action] {
        if step == .paused {
            noteEnd(at: now)
            return suspend()
        }
        guard step != .abandoningSetup, step != .closing, step != .changingTransport else { return [] }
        return fail(InletError(.streamEnded, "The server ended the stream."), at: now)
    }
}
