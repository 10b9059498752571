import InletCore

/// The steps from the connection to the first picture: OPTIONS for some servers, DESCRIBE, SETUP, PLAY.
extension RTSPSession {
    /// Sends the first request of a connection.
    mutating func begin(at now: MonotonicTime) -> [Action] {
        guard beginsWithOptions else { return describe(at: now) }
        step = .asking
        return [send(Request(method: .options, uri: url.requestURI), at: now)]
    }

    /// Continues after any answer to OPTIONS: some servers only need to receive the request.
    mutating func wasAsked(_ response: RTSPResponse, at now: MonotonicTime) -> [Action] {
        if let actions = redirected(by: response, at: now) { return actions }
        if response.isSuccess { keepAlive.learn(PublicHeader.methods(in: response.headers.values("Public"))) }
        return describe(at: now)
    }

    mutating func describe(at now: MonotonicTime) -> [Action] {
        step = .describing
        var request = Request(method: .describe, uri: url.requestURI)
        request.headers.append("Accept", "application/sdp")
        return [send(request, at: now)]
    }

    mutating func described(_ response: RTSPResponse, at now: MonotonicTime) -> [Action] {
        if let actions = redirected(by: response, at: now) { return actions }
        guard response.isSuccess else { return fail(statusOf: response, to: .describe, at: now) }
        let sdp = SDP(response.body)
        let video: VideoMedia
        switch Self.choose(configuration.video, from: sdp) {
        case .success(let chosen): video = chosen
        case .failure(let error): return fail(error, at: now)
        }
        self.video = video
        tool = sdp.tool
        range = sdp.range
        base = url.base(
            contentBase: response.headers.first("Content-Base"),
            contentLocation: response.headers.first("Content-Location"), sessionControl: sdp.control)
        aggregate = base.aggregate(control: sdp.control)
        controlCandidates = base.candidates(forControl: video.control)
        candidate = 0
        return beginTransport(at: now)
    }

    private static func choose(_ choice: SDP.VideoChoice, from sdp: SDP) -> Result<VideoMedia, InletError> {
        guard !sdp.media.isEmpty else {
            return .failure(InletError(.malformedData, "The server's answer to DESCRIBE describes no stream."))
        }
        guard let video = sdp.video(choice) else {
            if case .at(let index) = choice {
                return .failure(InletError(.invalidConfiguration, "The server has no video number \(index)."))
            }
            return .failure(InletError(.unsupported, "The server describes no video."))
        }
        guard !video.isEncrypted else {
            return .failure(InletError(.unsupported, "The server offers the video only with SRTP."))
        }
        guard video.isKnown else {
            let name = String(decoding: video.encodingName, as: UTF8.self).sanitized(limit: 64)
            return .failure(
                InletError(
                    .unsupported,
                    "The video has a format that Inlet does not know: \(name.isEmpty ? "\(video.payloadType)" : name).")
            )
        }
        return .success(video)
    }

    // MARK: SETUP

    private var requestedTransport: TransportHeader {
        var header: TransportHeader
        switch currentTransport {
        case .tcp:
            header = TransportHeader(delivery: .tcp)
            header.interleaved = TransportHeader.Pair(0, 1)
        case .udp:
            header = TransportHeader(delivery: .unicast)
            header.clientPorts = ports
        case .multicast: header = TransportHeader(delivery: .multicast)
        }
        header.requestsFeedbackProfile = video?.usesFeedbackProfile == true && !refusesFeedbackProfile
        return header
    }

    private mutating func beginTransport(at now: MonotonicTime) -> [Action] {
        if requestedTransport.delivery == .unicast, ports == nil {
            step = .openingPorts
            return [.openPorts]
        }
        return setUp(at: now)
    }

    mutating func setUp(at now: MonotonicTime) -> [Action] {
        guard controlCandidates.indices.contains(candidate) else {
            return fail(InletError(.internal, "There is no address for SETUP."), at: now)
        }
        step = .settingUp
        var request = Request(method: .setup, uri: controlCandidates[candidate].requestURI)
        request.headers.append("Transport", requestedTransport.requestValue)
        return [send(request, at: now)]
    }

    mutating func wasSetUp(_ response: RTSPResponse, at now: MonotonicTime) -> [Action] {
        // The first number counts, even of a refusal: whatever session there is has to be ended.
        if session == nil { session = response.headers.first("Session").flatMap { SessionHeader($0) } }
        guard response.isSuccess, let video else {
            if let actions = redirected(by: response, at: now) { return actions }
            // Other clients request RTP/AVP whatever the description contains, so a server may accept nothing else. It
            // may then answer with the status for a header or a request that it cannot read.
            if [400, 406, 415, 451, 459, 461, 500, 501].contains(response.status),
                requestedTransport.requestsFeedbackProfile
            {
                refusesFeedbackProfile = true
                return setUp(at: now)
            }
            if response.status == 461 {
                return tryNextTransport(at: now) ?? fail(statusOf: response, to: .setup, at: now)
            }
            // The address may have been the wrong one of two.
            if [400, 404, 405, 451, 455, 459, 460, 500, 503].contains(response.status),
                candidate + 1 < controlCandidates.count
            {
                candidate += 1
                session = nil
                return setUp(at: now)
            }
            return fail(statusOf: response, to: .setup, at: now)
        }
        let requested = requestedTransport
        var transport =
            response.headers.first("Transport").map { TransportHeader(reply: $0, requested: requested) }
            ?? requested
        if let error = complete(&transport, requested: requested, video) {
            guard session != nil else { return tryNextTransport(at: now) ?? fail(error, at: now) }
            guard self.transport + 1 < configuration.transports.count else { return fail(error, at: now) }
            self.transport += 1
            step = .changingTransport
            return [.closePorts, send(Request(method: .teardown, uri: aggregate.requestURI), at: now, isLast: true)]
        }
        let established = Established(
            video: video, transport: transport, keepsWritingAfterClose: Self.keepsWritingAfterClose(tool: tool),
            range: range)
        return [.established(established)] + play(at: now)
    }

    /// Adds the values that the server omitted to the transport; returns the reason if it cannot be used.
    private func complete(
        _ transport: inout TransportHeader, requested: TransportHeader, _ video: VideoMedia
    ) -> InletError? {
        guard !transport.isEncrypted else {
            return InletError(.unsupported, "The server sends the video only with SRTP.")
        }
        switch transport.delivery {
        case .tcp:
            transport.interleaved = transport.interleaved ?? TransportHeader.Pair(0, 1)
            return nil
        case .unicast:
            return requested.delivery == .unicast
                ? nil : InletError(.unsupported, "The server sends datagrams to ports that were not requested.")
        case .multicast:
            transport.destination = transport.destination ?? video.connection?.address
            transport.timeToLive = transport.timeToLive ?? video.connection?.timeToLive
            if transport.ports == nil, video.port > 0 {
                transport.ports = TransportHeader.Pair(video.port, min(video.port + 1, 65_535))
            }
            transport.source = transport.source ?? video.sourceFilter
            let isGroup =
                transport.destination.map { SDP.Connection(address: $0, timeToLive: nil).isMulticast } ?? false
            return requested.delivery == .multicast && isGroup && transport.ports != nil
                ? nil : InletError(.unsupported, "The server names no multicast group.")
        }
    }

    /// Starts again with the next transport; returns nil after the last one. Hikvision cameras need a fresh DESCRIBE.
    mutating func tryNextTransport(at now: MonotonicTime) -> [Action]? {
        guard transport + 1 < configuration.transports.count else { return nil }
        transport += 1
        session = nil
        let hadPorts = ports != nil
        ports = nil
        return (hadPorts ? [.closePorts] : []) + describe(at: now)
    }

    /// Whether a server is a LIVE555 that keeps sending to closed connections: before 2017.06.04.
    private static func keepsWritingAfterClose(tool: [UInt8]?) -> Bool {
        let name = "LIVE555 Streaming Media v"
        guard let tool, tool.starts(with: name.utf8) else { return false }
        let version = tool.dropFirst(name.utf8.count).prefix(10)
        return version.lexicographicallyPrecedes("2017.06.04".utf8)
    }

    // MARK: PLAY

    mutating func play(at now: MonotonicTime) -> [Action] {
        step = .startingToPlay
        nextKeepAlive = now + keepAliveInterval
        var request = Request(method: .play, uri: aggregate.requestURI)
        // Parrot's drones do not play without a range.
        if sendsRange { request.headers.append("Range", "npt=0.000-") }
        return [send(request, at: now)]
    }

    mutating func played(_ response: RTSPResponse, at now: MonotonicTime) -> [Action] {
        if let actions = redirected(by: response, at: now) { return actions }
        guard response.isSuccess else {
            if sendsRange, response.status == 457 || response.status == 400 {
                sendsRange = false
                return play(at: now)
            }
            // The server forgot the session during the pause.
            if isResuming, response.status == 454 {
                noteEnd(at: now)
                return (ports != nil ? [.closePorts] : []) + reconnect()
            }
            return fail(statusOf: response, to: .play, at: now)
        }
        let infos = response.headers.values("RTP-Info").flatMap { RTPInfo.all(in: $0) }
        let control = video?.control ?? []
        let info = infos.first { !control.isEmpty && $0.url.suffix(control.count).elementsEqual(control) }
        let range = response.headers.first("Range").flatMap { RangeHeader($0) }
        return nowPlaying(Playing(range: range, info: info ?? (infos.count == 1 ? infos.first : nil)), at: now)
    }

    mutating func nowPlaying(_ playing: Playing, at now: MonotonicTime) -> [Action] {
        step = .playing
        aliveSince = now
        isResuming = false
        return [.playing(playing)] + followWish(at: now)
    }
}
