import InletCore

/// Sends requests and matches them with their answers.
extension RTSPSession {
    /// Returns the action that sends a request and waits for its answer.
    ///
    /// - Parameters:
    ///   - answersChallenge: whether the same request has just been refused with status 401.
    ///   - isLast: whether the session ends with it, so that the answer is waited for only briefly.
    mutating func send(
        _ request: Request, at now: MonotonicTime, answersChallenge: Bool = false, isLast: Bool = false
    ) -> Action {
        let (bytes, sent) = write(request, at: now, answersChallenge: answersChallenge, isLast: isLast)
        pending = sent
        return .send(bytes)
    }

    /// Returns the bytes of a request with a new sequence number.
    mutating func write(
        _ request: Request, at now: MonotonicTime, answersChallenge: Bool, isLast: Bool
    ) -> ([UInt8], Pending) {
        lastCSeq &+= 1
        let authorization = authentication.authorization(method: request.method, uri: request.uri)
        var headers = RTSPHeaders()
        headers.append("CSeq", "\(lastCSeq)")
        if let authorization { headers.append("Authorization", authorization) }
        headers.append("User-Agent", configuration.userAgent)
        if let session { headers.append("Session", session.id) }
        for field in request.headers.fields { headers.append(received: field) }
        let bytes = RTSPRequestWriter.bytes(
            of: RTSPRequest(method: Array(request.method.rawValue.utf8), uri: request.uri, headers: headers))
        let wait = isLast ? configuration.closeTimeout : configuration.responseTimeout
        if sendsKeepAlives { nextKeepAlive = now + keepAliveInterval }
        return (
            bytes,
            Pending(
                cSeq: lastCSeq, request: request, authorization: authorization, answersChallenge: answersChallenge,
                sent: now, deadline: now + wait)
        )
    }

    /// Finds the request that a response answers, and removes it. A response without a number answers the newest
    /// request; one with a number that is not awaited answers none, and is ignored.
    mutating func requestAnswered(by response: RTSPResponse) -> (request: Pending, isKeepAlive: Bool)? {
        let number = response.headers.cSeq
        if let pending, number ?? newestCSeq == pending.cSeq {
            self.pending = nil
            return (pending, false)
        }
        guard let index = pendingKeepAlives.lastIndex(where: { $0.cSeq == number ?? newestCSeq }) else { return nil }
        // Answers come in the order of the requests.
        let found = pendingKeepAlives[index]
        pendingKeepAlives.removeSubrange(...index)
        return (found, true)
    }

    private var newestCSeq: UInt32? {
        [pending?.cSeq, pendingKeepAlives.last?.cSeq].compactMap { $0 }.max()
    }

    /// Takes a response, and returns what follows from it.
    mutating func take(_ response: RTSPResponse, at now: MonotonicTime) -> [Action] {
        // RFC 2326, section 7.1.1: a provisional response, which the final one follows.
        guard response.status >= 200 else { return [] }
        guard let (request, isKeepAlive) = requestAnswered(by: response) else { return [] }
        if isKeepAlive { return keepAliveAnswered(request, response, at: now) }
        if step == .abandoningSetup { return abandonedSetupAnswered(response, at: now) }
        if response.isHTTP {
            return fail(
                InletError(.unsupported, "A web server answers at this port. RTSP is usually found at port 554."),
                at: now)
        }
        if response.status == 401 { return refused(request, response, at: now) }
        // A server may answer OPTIONS without credentials.
        if response.isSuccess, step != .asking || request.authorization != nil { authentication.noteSuccess() }
        switch step {
        case .asking: return wasAsked(response, at: now)
        case .describing: return described(response, at: now)
        case .settingUp: return wasSetUp(response, at: now)
        case .startingToPlay: return played(response, at: now)
        case .pausing: return pauseAnswered(response, at: now)
        case .changingTransport: return reconnect()
        case .closing:
            step = .closed
            return [.close]
        case .connecting, .openingPorts, .playing, .paused, .suspended, .abandoningSetup, .closed: return []
        }
    }

    private mutating func refused(_ request: Pending, _ response: RTSPResponse, at now: MonotonicTime) -> [Action] {
        let outcome = authentication.take(
            challenges: response.headers.values("WWW-Authenticate"), sent: request.authorization,
            wasAnsweringChallenge: request.answersChallenge)
        let isLast = step == .closing || step == .changingTransport
        guard outcome != .retry else {
            return [send(request.request, at: now, answersChallenge: true, isLast: isLast)]
        }
        switch step {
        case .closing:
            step = .closed
            return [.close]
        case .changingTransport: return reconnect()
        default: return fail(authentication.error(outcome), at: now)
        }
    }
}
