import Dispatch
import InletCore
import InletHTTPServer
import InletRTC
import InletSystem
import Logging
import Synchronization
import WebRTCEngine

/// The sessions of viewers, by name. Safe from any thread.
final class ViewerSessions: WHEPSessions, TrackAudience {
    private let configuration: WebRTCSinkConfiguration
    private let hub: ViewerHub
    /// The pipelines of the codecs that can be sent, in order of preference.
    private let pipelines: [ViewerPipeline]
    private let broadcast: WebRTCBroadcast
    /// Counts the viewers of several sinks; nil without such a count.
    private let places: WHEPHost.Places?
    private let logger: Logger
    private let state: Mutex<State>
    /// Left when no request is waiting for a response.
    private let replies = DispatchGroup()

    /// The queue that parses the viewers' descriptions, one after another. It is not the server's thread, because
    /// that serves all viewers.
    private let reading = DispatchQueue(label: "inlet.webrtc.reading")

    private struct State {
        var sessions: [String: ViewerSession] = [:]
        var quota: ClientQuota<ClientAddress>
        var guests = GuestList(.viewer)
        var isClosed = false
    }

    init(
        _ configuration: WebRTCSinkConfiguration, hub: ViewerHub, pipelines: [ViewerPipeline],
        places: WHEPHost.Places? = nil, logger: Logger
    ) {
        (self.configuration, self.places) = (configuration, places)
        self.pipelines = pipelines
        self.hub = hub
        broadcast = configuration.broadcast
        self.logger = logger
        state = Mutex(
            State(quota: ClientQuota(all: configuration.viewers, perClient: configuration.viewersPerClient)))
    }

    private var endpoint: WHEPEndpoint {
        var endpoint = configuration.endpoint
        endpoint.isPublished = broadcast.isPublished
        return endpoint
    }

    /// The limits of each viewer's data channels.
    var channelLimits: DataChannelLimits { configuration.channels }

    /// Returns the endpoint as a client sees it. A client that did not send the token gets no relay credentials.
    func endpoint(isKnown: Bool) -> WHEPEndpoint {
        var endpoint = endpoint
        if !isKnown { endpoint.servers = [] }
        return endpoint
    }

    func occupancy(for client: ClientAddress) -> QuotaOccupancy {
        state.withLock { $0.quota.occupancy(for: client, at: .now) }
    }

    func session(_ name: String) -> WHEPEndpoint.Session? {
        state.withLock { $0.sessions[name] }.map {
            WHEPEndpoint.Session(tag: $0.tag, userFragment: $0.offer.userFragment)
        }
    }

    func add(_ fragment: TrickleFragment, to session: String) {
        state.withLock { $0.sessions[session] }?.add(fragment)
    }

    func take(
        _ request: WHEPRequest, body: [UInt8], of client: ClientAddress, reply: @escaping Reply
    ) -> Withdrawal? {
        replies.enter()
        reading.async { [self] in
            self.perform(request, body: body, of: client) { [replies] response in
                reply(response)
                replies.leave()
            }
        }
        return nil
    }

    func begin(
        _ sdp: String, for request: WHEPRequest, of client: ClientAddress, reply: @escaping Reply
    ) {
        let endpoint = endpoint
        func refuse(_ failure: PeerSessionFailure) { reply(endpoint.failed(.failed(failure), to: request)) }
        let offer: VideoOffer
        do {
            offer = try VideoOffer(sdp)
        } catch {
            return refuse(error)
        }
        guard let pipeline = pipelines.first(where: { offer.payload(for: $0.codec) != nil }) else {
            return refuse(.noCommonCodec)
        }
        guard places?.enter() ?? true else { return reply(endpoint.full(request)) }
        let place = state.withLock { state -> (number: Int, request: AdmissionRequest)? in
            // This was checked before, but the object may be closing.
            guard !state.isClosed, state.quota.admit(client, at: .now) else { return nil }
            return state.guests.enter(request.clientName, from: "\(client)")
        }
        guard let place else {
            places?.leave()
            return reply(endpoint.failed(.local, to: request))
        }
        let admission = configuration.admission
        @Sendable func decided(_ decision: AdmissionDecision) {
            guard case .accept(let permissions) = decision else {
                leave(place.number, of: client)
                return reply(endpoint.refused(decision, to: request) ?? endpoint.failed(.local, to: request))
            }
            if place.request.isNamesake, admission.namesakes == .replace { sendAway(namesakesOf: place.number) }
            admit(sdp, offer, pipeline, permissions, place.number, for: request, of: client, reply: reply)
        }
        if let ruling = admission.ruling(on: place.request) { return decided(ruling) }
        Task { decided(await admission.decision(on: place.request)) }
    }

    /// Opens the session of a viewer that has a place.
    private func admit(
        _ sdp: String, _ offer: VideoOffer, _ pipeline: ViewerPipeline, _ permissions: AdmissionPermissions,
        _ guest: Int, for request: WHEPRequest, of client: ClientAddress, reply: @escaping Reply
    ) {
        let endpoint = endpoint
        let session = ViewerSession(
            offer, environment(pipeline, configuration.ice, broadcast), permissions,
            connecting: configuration.connectTimeout
        ) { [self] in
            // Each session ends and is then released; until then its place is occupied.
            remove($0, guest, of: client)
        }
        let isOpen = state.withLock { state in
            guard !state.isClosed else { return false }
            state.sessions[session.name] = session
            state.guests.begin(session.name, at: guest)
            return true
        }
        guard isOpen else {
            leave(guest, of: client)
            return reply(endpoint.failed(.local, to: request))
        }
        session.answer(sdp) { [name = session.name, tag = session.tag] result in
            switch result {
            case .success(let answer): reply(endpoint.opened(name, tag: tag, answer: answer, to: request))
            case .failure(let failure): reply(endpoint.failed(failure.end, to: request))
            }
        }
    }

    private func environment(
        _ pipeline: ViewerPipeline, _ ice: ICEServers, _ broadcast: WebRTCBroadcast?
    ) -> EngineSession.Environment {
        EngineSession.Environment(
            hub: hub, pipelines: [pipeline], rateControl: configuration.rateControl, rates: configuration.rates,
            ice: ice, address: configuration.gatheringAddress, limits: configuration.channels,
            trackName: configuration.trackName,
            ledger: broadcast == nil ? nil : hub.ledger, broadcast: broadcast, logger: logger)
    }

    /// Opens a session without a viewer and closes it, so that the first viewer need not wait for the one-time
    /// initialization.
    func warmUp() {
        guard let offer = try? VideoOffer(ThrowawayOffer.sdp),
            let pipeline = pipelines.first(where: { offer.payload(for: $0.codec) != nil })
        else { return }
        // It has no viewer, asks no servers, and is not reported.
        let session = ViewerSession(
            offer, environment(pipeline, ICEServers(), nil), .all, connecting: configuration.connectTimeout
        ) { _ in }
        // The closure that waits for the answer retains the session.
        session.answer(ThrowawayOffer.sdp) { _ in session.close(.bye(nil)) }
    }

    /// Ends the session of a viewer that leaves.
    func close(_ name: String) { state.withLock { $0.sessions[name] }?.close(.bye(nil)) }

    private func remove(_ name: String, _ guest: Int, of client: ClientAddress) {
        // Must not be released under the lock.
        let session = state.withLock { $0.sessions.removeValue(forKey: name) }
        if session != nil { leave(guest, of: client) }
    }

    /// Frees the place of a viewer.
    private func leave(_ guest: Int, of client: ClientAddress) {
        let hasLeft = state.withLock { state in
            guard state.guests.leave(guest) else { return false }
            state.quota.leave(client)
            return true
        }
        if hasLeft { places?.leave() }
    }

    /// Ends the sessions of other viewers that have the name of a guest.
    private func sendAway(namesakesOf guest: Int) {
        let sessions = state.withLock { state in
            state.guests.sessions(ofNamesakes: guest).compactMap { state.sessions[$0] }
        }
        for session in sessions { session.closeTellingPages() }
    }

    /// Notifies pages of the track's state. Ends the sessions when the track is unpublished.
    func trackChanged(to state: VideoTrackState) {
        for session in self.state.withLock({ Array($0.sessions.values) }) {
            if state.isPublished { session.tellPages() } else { session.closeTellingPages() }
        }
    }

    /// Sends a message to one viewer or to all. Returns at once.
    ///
    /// - Returns: false if there is no such viewer.
    /// - Throws: ``InletError/Code/resourceExhausted`` for a message that is too long for the viewer or, if it is
    ///   for all, for any of them; those that accept it get it.
    func send(
        _ body: PeerMessage.Body, over delivery: DataDelivery, labelled label: String?, to viewer: String?
    ) throws(InletError) -> Bool {
        let sessions = state.withLock { state in
            viewer.map { name in state.sessions[name].map { [$0] } ?? [] } ?? Array(state.sessions.values)
        }
        var failure: InletError?
        for session in sessions {
            do throws(InletError) {
                try session.send(body, over: delivery, labelled: label)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return viewer == nil || !sessions.isEmpty
    }

    /// Ends all sessions and accepts no more. Waits, for at most two seconds, until all pending offers are
    /// answered.
    func close() {
        defer { _ = replies.wait(timeout: .now() + 2) }
        let sessions = state.withLock { state in
            state.isClosed = true
            return Array(state.sessions.values)
        }
        for session in sessions { session.close() }
    }

    var statisticsJSON: String { ViewersJSON.text(of: statistics) }

    /// The statistics of each viewer.
    var statistics: [ViewerStatistics] { state.withLock { Array($0.sessions.values) }.map(\.statistics) }
}
