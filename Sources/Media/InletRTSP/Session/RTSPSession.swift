package import InletCore

/// The client's side of an RTSP 1.0 session (RFC 2326) that plays one video: a state machine without a connection and
/// without a clock.
///
/// The caller reports events with ``handle(_:at:)`` and carries out the returned actions. It also reports
/// ``Event/timer`` when ``deadline`` comes. One request is outstanding at a time, apart from keep-alives, whose answers
/// are not waited for.
package struct RTSPSession: Sendable {
    /// The step that the session is at.
    enum Step: Sendable, Equatable {
        /// Waits for the connection.
        case connecting
        /// Waits for the answer to OPTIONS, before anything else is requested.
        case asking
        case describing
        /// Waits for two ports.
        case openingPorts
        case settingUp
        case startingToPlay
        case playing
        case pausing
        case paused
        /// Paused, and the server has ended the session: resuming begins another.
        case suspended
        /// Ends a session to begin another with the next transport.
        case changingTransport
        /// Waits for the answer to SETUP only to end the session that the server may have created.
        case abandoningSetup
        /// Waits for the last answer.
        case closing
        case closed
    }

    /// A request that has been sent and not been answered.
    struct Pending: Sendable {
        var cSeq: UInt32
        var request: Request
        /// The value of its `Authorization`; nil if it had none.
        var authorization: [UInt8]?
        /// Whether it was sent to answer a refusal.
        var answersChallenge: Bool
        var sent: MonotonicTime
        var deadline: MonotonicTime
    }

    /// A request without the headers that all have.
    struct Request: Sendable {
        var method: RTSPMethod
        var uri: [UInt8]
        var headers = RTSPHeaders()
    }

    var configuration: RTSPSessionConfiguration
    /// The address to connect to. It changes with redirects, and holds no credentials.
    package internal(set) var url: RTSPURL
    /// The facts learnt about keep-alives, for the configuration of the next session.
    package internal(set) var keepAlive: KeepAliveMemory

    var step = Step.connecting
    var authentication: RTSPAuthentication
    /// Facts about the server's Digest, for the configuration of the next session.
    package var authenticationMemory: RTSPAuthentication.Memory {
        url.hasSameOrigin(as: configuration.url) ? authentication.memory : configuration.authentication
    }
    /// Whether the server needs OPTIONS first, for the configuration of the next session.
    package var optionsMemory: Bool {
        url.hasSameOrigin(as: configuration.url) ? beginsWithOptions : configuration.beginsWithOptions
    }
    /// The credentials for the server of ``url``; nil if none were given, or after a redirect to a server that must not
    /// receive them.
    package internal(set) var credentials: RTSPCredentials?
    var pending: Pending?
    /// Keep-alives without an answer, the newest last.
    var pendingKeepAlives: [Pending] = []
    var lastCSeq: UInt32 = 0
    var redirects = 0
    /// Whether each connection begins with OPTIONS: some servers close a connection whose first request is another one.
    var beginsWithOptions: Bool
    /// Whether the server has sent a message on the current connection.
    var hasAnswered = false

    var video: VideoMedia?
    var tool: [UInt8]?
    var range: [UInt8]?
    var base: RTSPURL
    var aggregate: RTSPURL
    var controlCandidates: [RTSPURL] = []
    var candidate = 0
    /// The index of the configured transport being tried.
    var transport = 0
    var ports: TransportHeader.Pair?
    /// Whether the server refused the profile with early feedback, although its description states it.
    var refusesFeedbackProfile = false

    var session: SessionHeader?
    var nextKeepAlive = MonotonicTime.distantFuture
    /// The time at which the server last answered PLAY or PAUSE, which always keep a session alive; nil before the
    /// first answer, and after the end was noted.
    var aliveSince: MonotonicTime?
    var hasMedia = false
    /// Whether the next PLAY names a range.
    var sendsRange = true
    /// Whether the consumer wants the stream to pause.
    var wantsPause = false
    /// Whether PLAY was sent to end a pause, and has not been answered.
    var isResuming = false

    package init(_ configuration: RTSPSessionConfiguration) {
        self.configuration = configuration
        credentials = configuration.credentials ?? configuration.url.credentials
        var url = configuration.url
        url.credentials = nil
        self.url = url
        base = url
        aggregate = url
        keepAlive = configuration.keepAlive
        beginsWithOptions = configuration.beginsWithOptions
        authentication = RTSPAuthentication(
            credentials: credentials, isEncrypted: url.isSecure, basic: configuration.basic,
            memory: configuration.authentication, clientNonce: configuration.clientNonce)
    }

    /// The time at which ``Event/timer`` is due.
    package var deadline: MonotonicTime {
        min(pending?.deadline ?? .distantFuture, sendsKeepAlives ? nextKeepAlive : .distantFuture)
    }

    /// Whether the session has ended.
    package var isClosed: Bool { step == .closed }

    /// Whether the session has been closed before the server has answered SETUP, so that it cannot be ended yet.
    package var isAbandoningSetup: Bool { step == .abandoningSetup }

    /// Whether the stream is paused and the server has ended the session, so that there is nothing to keep alive.
    package var isSuspended: Bool { step == .suspended }

    /// Whether the session decides what the end of the connection means: another session begins, now or when the pause
    /// ends, or the server has left an answer to its challenge unjudged.
    package var outlivesConnection: Bool {
        step == .paused || step == .suspended || step == .changingTransport || isResuming || awaitsOtherAlgorithm
            || mayBeginWithOptions
    }

    /// Whether the session decides what an error of the connection means, as ``outlivesConnection``. A failed TLS
    /// handshake, for one, is no sign that the server requires OPTIONS first.
    package func outlives(_ error: InletError) -> Bool {
        outlivesConnection && (error.code == .disconnected || !mayBeginWithOptions)
    }

    /// Whether the end of the connection may mean that the server requires OPTIONS first.
    private var mayBeginWithOptions: Bool { step == .describing && !hasAnswered && !beginsWithOptions }

    /// Whether the server has not judged an answer that was sent after it refused one with another algorithm.
    private var awaitsOtherAlgorithm: Bool {
        pending?.answersChallenge == true && authentication.isTryingOtherAlgorithm
    }

    /// The transport that is tried or in use.
    package var currentTransport: RTSPSessionConfiguration.Transport {
        configuration.transports.indices.contains(transport) ? configuration.transports[transport] : .tcp
    }

    /// Takes an event, and returns the actions for the caller.
    package mutating func handle(_ event: Event, at now: MonotonicTime) -> [Action] {
        guard step != .closed else { return [] }
        switch event {
        case .connected: return step == .connecting ? begin(at: now) : []
        case .disconnected: return connectionEnded(at: now)
        case .unanswered: return step == .describing || step == .asking ? reconnect() : []
        case .response(let response):
            hasAnswered = true
            return take(response, at: now)
        case .request(let request):
            hasAnswered = true
            return answer(request, at: now)
        case .timer: return timePassed(at: now)
        case .mediaArrived:
            hasMedia = true
            return []
        case .portsOpened(let pair):
            guard step == .openingPorts else { return [.closePorts] }
            ports = pair
            return setUp(at: now)
        case .portsUnavailable(let error):
            guard step == .openingPorts else { return [] }
            return tryNextTransport(at: now) ?? fail(error, at: now)
        case .transportSilent:
            guard transport + 1 < configuration.transports.count else {
                guard mayChangeTransport else { return [] }
                return fail(InletError(.timedOut, "The server plays, but no packet arrives."), at: now)
            }
            return changeTransport(to: transport + 1, at: now)
        case .transportLossy:
            guard mayContinueOverTCP else { return [] }
            // A server that refuses TCP is asked for the others again.
            configuration.transports = [.tcp] + configuration.transports.filter { $0 != .tcp }
            return changeTransport(to: 0, at: now)
        case .streamLost(let since):
            noteEnd(at: since)
            return []
        case .pause:
            wantsPause = true
            return followWish(at: now)
        case .resume:
            wantsPause = false
            return followWish(at: now)
        case .close: return close(at: now)
        }
    }

    // MARK: Time and connection

    private mutating func timePassed(at now: MonotonicTime) -> [Action] {
        if let pending, pending.deadline <= now { return timedOut(pending, at: now) }
        if sendsKeepAlives, nextKeepAlive <= now { return [sendKeepAlive(at: now)] }
        return []
    }

    private mutating func timedOut(_ request: Pending, at now: MonotonicTime) -> [Action] {
        // The answer to SETUP may still come, and with it a session to end.
        if step != .settingUp { pending = nil }
        switch step {
        case .closing, .abandoningSetup:
            step = .closed
            return [.close]
        case .changingTransport: return reconnect()
        case .startingToPlay where hasMedia:
            // Some servers send packets and no answer.
            return nowPlaying(Playing(range: nil, info: nil), at: now)
        case .pausing:
            step = .playing
            wantsPause = false
            return [.pauseRefused]
        default:
            if step == .asking { beginsWithOptions = false }
            return fail(
                InletError(.timedOut, "The server does not answer \(request.request.method.rawValue)."), at: now)
        }
    }

    private mutating func connectionEnded(at now: MonotonicTime) -> [Action] {
        let awaitedOtherAlgorithm = awaitsOtherAlgorithm
        pending = nil
        switch step {
        case .closing, .abandoningSetup:
            step = .closed
            return [.close]
        case .changingTransport: return reconnect()
        case .paused, .suspended:
            noteHangUp(at: now)
            return suspend()
        case .startingToPlay where isResuming: return reconnect()
        case _ where awaitedOtherAlgorithm:
            // A failure that counts as a broken connection would be tried again until the account is locked.
            guard authentication.continueOnOtherConnection() else {
                step = .closed
                return [.fail(authentication.error(.refused).about(url.description)), .close]
            }
            let continued = authentication
            let actions = reconnect()
            authentication = continued
            return actions
        case _ where mayBeginWithOptions:
            beginsWithOptions = true
            return reconnect()
        default:
            if step == .asking, !hasAnswered { beginsWithOptions = false }
            noteHangUp(at: now)
            step = .closed
            let error = InletError(
                .disconnected, "The server closed the connection.",
                context: .init(subject: url.description))
            return [.fail(error), .close]
        }
    }

    /// Asks for a new connection to the current address.
    mutating func reconnect() -> [Action] {
        step = .connecting
        pending = nil
        pendingKeepAlives = []
        session = nil
        ports = nil
        video = nil
        nextKeepAlive = .distantFuture
        aliveSince = nil
        isResuming = false
        hasMedia = false
        hasAnswered = false
        sendsRange = true
        authentication.reset()
        return [.reconnect(url)]
    }

    /// Whether ``Event/transportLossy`` has the session continue over TCP.
    package var mayContinueOverTCP: Bool {
        mayChangeTransport && configuration.transports.dropFirst(transport + 1).contains(.tcp)
    }

    private var mayChangeTransport: Bool { step == .playing || step == .startingToPlay }

    private mutating func changeTransport(to next: Int, at now: MonotonicTime) -> [Action] {
        guard mayChangeTransport else { return [] }
        transport = next
        guard session != nil else { return [.closePorts] + reconnect() }
        step = .changingTransport
        pendingKeepAlives = []
        return [.closePorts, send(Request(method: .teardown, uri: aggregate.requestURI), at: now, isLast: true)]
    }
}
