import Dispatch
import InletCore
import InletHTTPServer
import InletRTC
import InletSystem
import Logging
import Synchronization
import WebRTCEngine

/// The publishers that connect to a WHIP endpoint. The latest admitted one is the source. Safe from any thread.
///
/// A publisher that has lost its network comes back before its old session has timed out. Therefore a newer
/// publisher replaces an older one, whose session is ended.
final class PublisherSessions: WHEPSessions {
    private let environment: ReceivingSession.Environment
    private let policy: PeerSessionPolicy
    private let plan: WHEPEndpoint
    private let admission: Admission
    private let channels: DataChannelLimits
    private let messaging: PeerMessaging
    private let logger: Logger
    private let state: Mutex<State>
    /// Left when no request is waiting for a response.
    private let replies = DispatchGroup()
    /// The queue that parses the publishers' descriptions.
    private let reading = DispatchQueue(label: "inlet.whip.reading")

    private struct State {
        var sessions: [String: PublisherSession] = [:]
        /// The name of the session that is the source.
        var current: String?
        var quota: ClientQuota<ClientAddress>
        var guests = GuestList(.publisher)
        var isClosed = false
    }

    /// The maximum number of sessions at a time: the current one, those about to replace it, and those whose
    /// admission is being decided.
    private static let mostSessions = 4

    init(_ configuration: WHIPSourceConfiguration, _ environment: ReceivingSession.Environment) {
        let settings = configuration.track
        (self.environment, admission) = (environment, configuration.admission)
        (channels, messaging) = (configuration.channels, configuration.messaging)
        logger = environment.logger
        var policy = PeerSessionPolicy(role: .answering, name: "")
        policy.connecting = settings.connectTimeout
        self.policy = policy
        var plan = WHEPEndpoint()
        (plan.path, plan.clients) = ("/whip", "publishers")
        plan.sessions = Self.mostSessions
        plan.sessionsPerClient = Self.mostSessions
        plan.origins = configuration.origins
        plan.servers = settings.ice.list(for: "publisher", now: HostTime.seconds)
        self.plan = plan
        state = Mutex(State(quota: ClientQuota(all: Self.mostSessions, perClient: Self.mostSessions)))
    }

    func endpoint(isKnown: Bool) -> WHEPEndpoint {
        var plan = plan
        if !isKnown { plan.servers = [] }
        return plan
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

    func close(_ session: String) { state.withLock { $0.sessions[session] }?.close(.bye(nil)) }

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

    var statisticsJSON: String {
        let isPublished = state.withLock { $0.current != nil }
        return "{\"published\":\(isPublished)}"
    }

    func begin(_ sdp: String, for request: WHEPRequest, of client: ClientAddress, reply: @escaping Reply) {
        let offer: VideoOffer
        do {
            offer = try VideoOffer(sdp, in: .sends)
            guard offer.payload(for: environment.pipeline.codec) != nil else {
                return reply(
                    .refusal(
                        422,
                        "The offer lacks \(environment.pipeline.codec), the only accepted codec. "
                            + "Set another one with codec= at the endpoint."))
            }
        } catch {
            return reply(plan.failed(.failed(error), to: request))
        }
        let place = state.withLock { state -> (number: Int, request: AdmissionRequest)? in
            guard !state.isClosed, state.quota.admit(client, at: .now) else { return nil }
            return state.guests.enter(request.clientName, from: "\(client)")
        }
        guard let place else { return reply(plan.failed(.local, to: request)) }
        @Sendable func decided(_ decision: AdmissionDecision) {
            guard case .accept(let permissions) = decision else {
                leave(place.number, of: client)
                return reply(plan.refused(decision, to: request) ?? plan.failed(.local, to: request))
            }
            admit(sdp, offer, permissions, place.number, for: request, of: client, reply: reply)
        }
        if let ruling = admission.ruling(on: place.request) { return decided(ruling) }
        Task { decided(await admission.decision(on: place.request)) }
    }

    /// Opens the session of a publisher that has a place, and ends earlier sessions.
    private func admit(
        _ sdp: String, _ offer: VideoOffer, _ permissions: AdmissionPermissions, _ guest: Int,
        for request: WHEPRequest, of client: ClientAddress, reply: @escaping Reply
    ) {
        var limits = channels
        if !permissions.contains(.messages) { limits.channels = 0 }
        var environment = environment
        environment.channels = limits
        var policy = policy
        policy.name = RandomName.make()
        let session = PublisherSession(offer, environment, policy, messaging) { [weak self] in
            self?.remove($0, guest, of: client)
        }
        let older = state.withLock { [limits] state -> [PublisherSession]? in
            guard !state.isClosed else { return nil }
            session.begin(messaging, limits)
            let older = Array(state.sessions.values)
            state.sessions[session.name] = session
            state.current = session.name
            state.guests.begin(session.name, at: guest)
            return older
        }
        guard let older else {
            leave(guest, of: client)
            return reply(plan.failed(.local, to: request))
        }
        if !older.isEmpty { logger.notice("A newer publisher replaces the previous one.") }
        for session in older { end(session) }
        session.answer(sdp) { [plan, name = session.name, tag = session.tag] result in
            switch result {
            case .success(let answer): reply(plan.opened(name, tag: tag, answer: answer, to: request))
            case .failure(let failure): reply(plan.failed(failure.end, to: request))
            }
        }
    }

    /// Ends a session. Its messaging ends at once; the end of the session itself follows later, on its queue.
    private func end(_ session: PublisherSession) {
        session.close()
        messaging.end(session.name)
    }

    private func remove(_ name: String, _ guest: Int, of client: ClientAddress) {
        messaging.end(name)
        // Must not be released under the lock.
        let session = state.withLock { state in
            if state.current == name { state.current = nil }
            return state.sessions.removeValue(forKey: name)
        }
        if session != nil { leave(guest, of: client) }
    }

    /// Frees the place of a publisher.
    private func leave(_ guest: Int, of client: ClientAddress) {
        state.withLock { state in
            if state.guests.leave(guest) { state.quota.leave(client) }
        }
    }

    func requestKeyFrame() {
        state.withLock { state in state.current.flatMap { state.sessions[$0] } }?.requestKeyFrame()
    }

    /// Ends all sessions and accepts no more. Waits, for at most a second, until all pending offers are answered.
    func close() {
        let sessions = state.withLock { state in
            state.isClosed = true
            return Array(state.sessions.values)
        }
        for session in sessions { end(session) }
        let end = DispatchTime.now() + .seconds(1)
        _ = replies.wait(timeout: end)
        _ = environment.closing.wait(timeout: end)
    }
}
