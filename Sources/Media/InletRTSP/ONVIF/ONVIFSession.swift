package import InletCore

/// Requests the ``Settings/goal`` from an ONVIF device, such as key frames of one stream or the addresses of streams.
/// It finds the media service, then the profiles (ONVIF Media and Media2 Service Specifications).
///
/// A state machine without connections and without a clock. The services and profiles found are kept, so that later
/// requests take one exchange.
package struct ONVIFSession: Sendable {
    /// The device, the stream, and how requests authenticate.
    package struct Settings: Sendable, Equatable {
        /// The address of the device service.
        package var device: RTSPURL
        /// The goal of the session. The default is key frames.
        package var goal = Goal.keyFrames
        /// The address of the stream, by which the profile is found for key frames.
        package var stream: RTSPURL
        /// The token of the profile; nil finds it. The default is nil.
        package var profile: [UInt8]?
        /// The user's name and password; nil for no credentials. The default is nil.
        package var credentials: RTSPCredentials?
        /// Whether a host to which the device redirects gets the credentials, too. The default is false.
        package var sharesCredentials = false
        /// When Basic may be used. The default is only over an encrypted connection: ONVIF does not require devices to
        /// offer it, so its main user over plain HTTP would be an eavesdropper.
        package var basic = RTSPAuthentication.BasicPolicy.encryptedOnly

        package init(device: RTSPURL, stream: RTSPURL) {
            self.device = device
            self.stream = stream
        }

        /// Makes settings for the addresses of streams.
        package init(device: RTSPURL, goal: Goal) {
            self.init(device: device, stream: device)
            self.goal = goal
        }
    }

    /// The thing requested from the device.
    package enum Goal: Sendable, Equatable {
        /// Key frames of one stream.
        case keyFrames
        /// Only the time of the device's clock. No device requires a login for that.
        case clock
        /// All profiles, with the addresses of their streams.
        case profiles
        /// The profile with a name or a token, with the address of its stream; nil is the device's first one.
        case profile(named: [UInt8]?)
        /// The device's detections: subscribes to its events and pulls them.
        case events
    }

    /// A request to send over a new connection, which is closed after the answer.
    package struct Exchange: Sendable {
        /// The address to connect to; the port is ``RTSPURL/tunnelPort``.
        package var url: RTSPURL
        /// The operation that is requested.
        package var request: ONVIFRequest
        /// The head and the body of the HTTP request.
        package var bytes: [UInt8]
    }

    /// The authentication of requests. By ONVIF's Core Specification, section "Authentication", clients send the first
    /// request without credentials, and never both kinds at once.
    enum Access: Sendable {
        case none
        /// HTTP authentication.
        case http
        /// A ``UsernameToken``.
        case token
    }

    /// A request, and how it was sent.
    struct Pending: Sendable {
        var request: ONVIFRequest
        var url: RTSPURL
        /// The value of `Authorization`; nil if it had none.
        var authorization: [UInt8]?
        var hasToken = false
        var answersChallenge = false
        var redirects = 0
        /// Whether it is to be sent, for the first time or again.
        var isDue = true
    }

    let settings: Settings
    /// The last request; nil once it was answered and need not be repeated.
    var pending: Pending?
    /// Whether requests may carry the credentials: not after a redirect to another server.
    private(set) var mayAuthenticate = true
    var access = Access.none
    var authentication: RTSPAuthentication
    /// The number of seconds by which the device's clock is ahead; nil if it is unknown.
    package internal(set) var clockOffset: Int64?
    /// The number of seconds by which the device's clock was ahead when its time was last requested; nil if it did not
    /// state its time.
    package private(set) var statedClockOffset: Int64?
    private var hasAskedClock = false
    /// Whether the device's time was requested since a request with a token was last accepted.
    var isClockFresh = false
    /// The device's clock, as the device states it.
    var clock = DeviceClock.same
    /// Whether the device checks another time than it states.
    var usesOtherClock = false
    /// The number of tokens that were refused since one was last accepted.
    var refusedTokens = 0
    /// Whether credentials were sent, or would be with the next request.
    package var hasSentCredentials: Bool { access != .none }
    /// Whether the device has refused the credentials, which are then not sent again.
    package internal(set) var isRefused = false

    private var device: RTSPURL
    private var media: (version: ONVIFRequest.MediaVersion, url: RTSPURL)?
    /// The older media service, in case that the newer one fails.
    private var otherMedia: RTSPURL?
    private var lacksServices = false
    /// The profiles whose addresses are not known yet; nil before the profiles were requested.
    var candidates: ArraySlice<[UInt8]>?
    /// The profile that is taken if no other fits better.
    private var likeliest: (profile: [UInt8], fitness: Int)?
    /// The device's profiles, for ``Goal/profiles`` and ``Goal/profile(named:)``; nil before they were requested. The
    /// requested profiles have the addresses of their streams.
    package var found: [ONVIFProfile]?
    /// The state of ``Goal/events``.
    var events = Events()
    /// Whether the subscription to events is to be renewed by the next request.
    package var wantsRenewal = false
    /// Whether the subscription to events is to be ended.
    private(set) var isEnding = false
    /// Whether the device reports that it has no events.
    package private(set) var lacksEvents = false
    /// The token of the stream's profile; nil until it is found.
    package private(set) var profile: [UInt8]?

    /// The most profiles that are compared. Cameras have fewer; recorders may have more, and each costs an exchange.
    static let mostProfiles = 32
    /// The most profiles of which one is chosen by its name or token: those of a recorder with 128 channels.
    static let mostNamedProfiles = 512
    private static let mostRedirects = 5

    package init(_ settings: Settings) {
        self.settings = settings
        device = settings.device
        profile = settings.profile
        authentication = RTSPAuthentication(
            credentials: settings.credentials, isEncrypted: settings.device.isSecure, basic: settings.basic)
    }

    /// Whether the session has these settings.
    package func isFor(_ settings: Settings) -> Bool { self.settings == settings }

    /// Returns the next request; nil if there is nothing to do.
    ///
    /// - Parameters:
    ///   - wantsKeyFrame: whether a key frame is to be requested; otherwise only the service and the profiles are
    ///     found.
    ///   - time: the time of day in seconds since 1970.
    ///   - nonce: at least 16 random bytes that no other request uses.
    package mutating func next(wantsKeyFrame: Bool, at time: Int64, nonce: [UInt8]) -> Exchange? {
        guard !isRefused else { return nil }
        if pending?.isDue != true {
            guard let (request, url) = nextRequest(wantsKeyFrame) else { return nil }
            pending = Pending(request: request, url: url)
        }
        guard var sent = pending else { return nil }
        // A token needs the device's time. Requesting that needs no token.
        if access == .token, clockOffset == nil, sent.request != .clock {
            sent = Pending(request: .clock, url: device)
        }
        sent.isDue = false
        if access == .http, mayAuthenticate, sent.request != .clock {
            let target = HTTPEndpoint(sent.url, userAgent: "").target
            sent.authorization = authentication.authorization(methodName: Array("POST".utf8), uri: target)
        }
        let exchange = exchange(&sent, at: time, nonce: nonce)
        pending = sent
        return exchange
    }

    private func nextRequest(_ wantsKeyFrame: Bool) -> (ONVIFRequest, RTSPURL)? {
        if settings.goal == .events, events.service != nil { return nextEventRequest() }
        if settings.goal == .clock { return hasAskedClock ? nil : (.clock, device) }
        guard let media else { return (lacksServices ? .capabilities : .services, device) }
        if let profile {
            return wantsKeyFrame ? (.synchronizationPoint(media.version, profile: profile), media.url) : nil
        }
        if found != nil, candidates?.isEmpty != false { return nil }
        guard let candidate = candidates?.first else { return (.profiles(media.version), media.url) }
        return (.streamURI(media.version, profile: candidate), media.url)
    }

    /// Takes the answer to the last request.
    ///
    /// - Parameter time: the time of day in seconds since 1970.
    /// - Returns: whether it is the answer to a key-frame request.
    /// - Throws: why no key frame can be requested; the session starts again with the next request.
    package mutating func take(_ response: RTSPResponse, at time: Int64) throws(InletError) -> Bool {
        guard let sent = pending, !sent.isDue else { return false }
        pending = nil
        if sent.request == .clock { hasAskedClock = true }
        do throws(InletError) {
            if [301, 302, 307, 308].contains(response.status) {
                try redirect(sent, response)
                return false
            }
            let answer = try? ONVIFAnswer(response.body, to: sent.request)
            if case .fault(let codes)? = answer, ONVIFAnswer.isAuthenticationFault(codes) || response.status == 401 {
                try refuse(sent, response)
                return false
            }
            if response.status == 401 {
                try refuse(sent, response)
                return false
            }
            noteAcceptance(of: sent)
            guard response.isSuccess, case .response(let element)? = answer else {
                try fail(sent, response, answer)
                return false
            }
            try take(element, of: sent, at: time)
        } catch {
            restart()
            throw error
        }
        if case .synchronizationPoint = sent.request { return true }
        return false
    }

    /// Records that the last request could not be sent, or was not answered: the service and the profile may have
    /// changed.
    package mutating func restart() {
        (pending, mayAuthenticate) = (nil, true)
        (device, media, otherMedia, lacksServices) = (settings.device, nil, nil, false)
        (candidates, likeliest, found, profile) = (nil, nil, nil, settings.profile)
        events = Events()
    }

    /// Asks for nothing more but the end of the subscription to events.
    package mutating func beginEnding() { (isEnding, pending) = (true, nil) }

    // MARK: Answers

    private mutating func take(_ element: XMLElement, of sent: Pending, at time: Int64) throws(InletError) {
        switch sent.request {
        case .clock:
            let clock = element.deviceClock(at: time)
            statedClockOffset = clock?.offset
            takeClock(clock)
        case .services where settings.goal == .events, .capabilities where settings.goal == .events:
            if takeEventService(element) { return }
            lacksEvents = sent.request == .capabilities
            lacksServices = true
            if lacksEvents { throw InletError(.unsupported, "The ONVIF device has no events.") }
        case .services, .capabilities:
            let newer = element.mediaAddress(.media2).flatMap { device.service(at: $0) }
            let older = element.mediaAddress(.media1).flatMap { device.service(at: $0) }
            if let newer {
                media = (.media2, newer)
                otherMedia = older
            } else if let older {
                media = (.media1, older)
            } else if sent.request == .services {
                lacksServices = true
            } else {
                throw InletError(.unsupported, "The ONVIF device names no media service.")
            }
        case .profiles where settings.goal != .keyFrames: try takeProfiles(element)
        case .streamURI(_, let candidate) where settings.goal != .keyFrames:
            takeAddress(element.streamAddress.flatMap { settings.device.stream(at: $0) }, of: candidate)
        case .profiles:
            let profiles = element.profileTokens.prefix(Self.mostProfiles)
            likeliest = profiles.first.map { ($0, 0) }
            // A single profile needs no comparison.
            candidates = profiles.count == 1 ? [] : profiles
            try chooseProfile()
        case .streamURI(_, let candidate):
            let url = element.streamAddress.flatMap { RTSPURL(lenient: $0) }
            let fitness = url.map { settings.stream.fitness(ofProfileAt: $0) } ?? 0
            if fitness > likeliest?.fitness ?? 0 { likeliest = (candidate, fitness) }
            candidates = fitness == 2 ? [] : candidates?.dropFirst()
            try chooseProfile()
        case .synchronizationPoint: break
        case .createPullPoint, .pullMessages, .renew, .unsubscribe: try takeEvents(element, of: sent.request)
        }
    }

    /// Chooses the profile that fits best, once all were compared.
    private mutating func chooseProfile() throws(InletError) {
        guard candidates?.isEmpty != false else { return }
        guard let likeliest else { throw InletError(.notFound, "The ONVIF device has no media profile.") }
        profile = likeliest.profile
        candidates = nil
    }

    /// Continues without the operation that the device refused, if another one can replace it.
    private mutating func fail(
        _ sent: Pending, _ response: RTSPResponse, _ answer: ONVIFAnswer?
    ) throws(InletError) {
        switch sent.request {
        case .services:
            lacksServices = true
            return
        case .clock: return takeClock(nil)
        case .streamURI(_, let candidate) where settings.goal != .keyFrames:
            return takeAddress(nil, of: candidate)
        case .streamURI:
            candidates = candidates?.dropFirst()
            return try chooseProfile()
        case .profiles, .synchronizationPoint:
            guard let other = otherMedia else { break }
            (media, otherMedia, candidates, likeliest, found) = ((.media1, other), nil, nil, nil, nil)
            profile = settings.profile
            return
        case .renew:
            // A pull keeps the subscription alive, too, or fails.
            wantsRenewal = false
            return
        case .capabilities, .createPullPoint, .pullMessages, .unsubscribe: break
        }
        let name = "\(sent.request.name)"
        if case .fault(let codes)? = answer {
            let text = codes.map { String(decoding: $0, as: UTF8.self).sanitized(limit: 64) }.joined(separator: ", ")
            throw InletError(.unsupported, "The ONVIF device refuses \(name) (\(text)).")
        }
        if response.isSuccess { _ = try ONVIFAnswer(response.body, to: sent.request) }
        throw Self.error(response, to: sent.request)
    }

    private mutating func redirect(_ sent: Pending, _ response: RTSPResponse) throws(InletError) {
        guard let target = response.headers.first("Location").flatMap({ sent.url.serviceRedirected(to: $0) }) else {
            throw InletError(.malformedData, "The ONVIF device redirects to no valid address.")
        }
        guard sent.redirects < Self.mostRedirects else {
            throw InletError(.malformedData, "The ONVIF device redirects in circles.")
        }
        guard !sent.url.isSecure || target.isSecure else {
            throw InletError(.tlsFailed, "The ONVIF device redirects from https to http, where others can listen in.")
        }
        var again = Pending(request: sent.request, url: target)
        again.redirects = sent.redirects + 1
        if !sent.url.sharesCredentials(with: target) {
            authentication.reset()
            mayAuthenticate = mayAuthenticate && settings.sharesCredentials
        }
        switch sent.request {
        case .clock, .services, .capabilities: device = target
        case .profiles, .streamURI, .synchronizationPoint: media?.url = target
        case .createPullPoint: events.service = target
        case .pullMessages, .renew, .unsubscribe: events.subscription = target
        }
        pending = again
    }
}
