#if WebRTC
    import Dispatch
    import InletCore
    import InletRTC
    import Logging
    import Synchronization

    /// The sessions of viewers, by their names. Safe from any thread.
    final class ViewerSessions: Sendable {
        private let configuration: WebRTCSinkConfiguration
        private let hub: ViewerHub
        /// Of the codecs that can be sent, those first that are preferred.
        private let pipelines: [ViewerPipeline]
        private let broadcast: WebRTCBroadcast
        private let logger: Logger
        private let state: Mutex<State>
        /// Left when nobody waits for an answer.
        private let replies = DispatchGroup()

        private struct State {
            var sessions: [String: ViewerSession] = [:]
            var admission: AdmissionRate
            var isClosed = false
        }

        /// What is said when it is known.
        typealias Reply = @Sendable (WHEPResponse) -> Void

        init(
            _ configuration: WebRTCSinkConfiguration, hub: ViewerHub, pipelines: [ViewerPipeline], logger: Logger
        ) {
            self.configuration = configuration
            self.pipelines = pipelines
            self.hub = hub
            broadcast = configuration.broadcast
            self.logger = logger
            state = Mutex(State(admission: AdmissionRate(perSecond: 50, burst: max(20, configuration.viewers))))
        }

        private var endpoint: WHEPEndpoint {
            var endpoint = configuration.endpoint
            endpoint.isPublished = broadcast.isPublished
            return endpoint
        }

        /// Of each viewer's data channels.
        var channelLimits: DataChannelLimits { configuration.channels }

        /// The endpoint as somebody sees it who has not shown the token: without credentials of relays.
        private func endpoint(isKnown: Bool) -> WHEPEndpoint {
            var endpoint = endpoint
            if !isKnown { endpoint.servers = [] }
            return endpoint
        }

        /// Whether a path is WHEP's.
        func serves(_ path: String) -> Bool { endpoint.serves(path) }

        /// What to do about a request, before its body is read or after.
        ///
        /// - Parameter isKnown: whether it shows the token, which a browser's question whether it may ask does not.
        func decide(_ request: WHEPRequest, isWhole: Bool, isKnown: Bool) -> WHEPEndpoint.Decision {
            let (count, wait) = state.withLock { ($0.sessions.count, $0.admission.wait(at: .now)) }
            return endpoint(isKnown: isKnown).decide(request, isWhole: isWhole, count: count, wait: wait) { name in
                state.withLock { $0.sessions[name] }.map {
                    WHEPEndpoint.Session(tag: $0.tag, userFragment: $0.offer.userFragment)
                }
            }
        }

        /// Opens a session. `reply` is called once, on some thread.
        func begin(_ sdp: String, for request: WHEPRequest, reply: @escaping Reply) {
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
            let session = ViewerSession(offer, surroundings(pipeline, configuration.ice, broadcast)) { [weak self] in
                self?.remove($0)
            }
            let isTaken = state.withLock { state in
                guard !state.isClosed, state.sessions.count < endpoint.sessions else { return false }
                state.admission.admit()
                state.sessions[session.name] = session
                return true
            }
            guard isTaken else { return reply(endpoint.failed(.local, to: request)) }
            replies.enter()
            session.answer(sdp) { [name = session.name, tag = session.tag, replies] result in
                defer { replies.leave() }
                switch result {
                case .success(let answer): reply(endpoint.opened(name, tag: tag, answer: answer, to: request))
                case .failure(let failure): reply(endpoint.failed(failure.end, to: request))
                }
            }
        }

        private func surroundings(
            _ pipeline: ViewerPipeline, _ ice: ICEServers, _ broadcast: WebRTCBroadcast?
        ) -> EngineSession.Surroundings {
            EngineSession.Surroundings(
                hub: hub, pipelines: [pipeline], rateControl: configuration.rateControl, rates: configuration.rates,
                ice: ice, limits: configuration.channels, broadcast: broadcast, logger: logger)
        }

        /// Opens a session that nobody asked for and closes it, so that the first viewer need not wait for what only the first session does.
        func warmUp() {
            guard let offer = try? VideoOffer(ThrowawayOffer.sdp),
                let pipeline = pipelines.first(where: { offer.payload(for: $0.codec) != nil })
            else { return }
            // Nobody's: it is no viewer, asks no servers, and is not told of.
            let session = ViewerSession(offer, surroundings(pipeline, ICEServers(), nil)) { _ in }
            // Kept by what waits for its answer.
            session.answer(ThrowawayOffer.sdp) { _ in session.close(.bye(nil)) }
        }

        func add(_ fragment: TrickleFragment, to name: String) { state.withLock { $0.sessions[name] }?.add(fragment) }

        /// A viewer leaves.
        func close(_ name: String) { state.withLock { $0.sessions[name] }?.close(.bye(nil)) }

        private func remove(_ name: String) {
            // Not let go of under the lock.
            _ = state.withLock { $0.sessions.removeValue(forKey: name) }
        }

        /// Pages are told what there is to see; where there is nothing any more, the sessions end.
        func trackChanged(to state: VideoTrackState) {
            for session in self.state.withLock({ Array($0.sessions.values) }) {
                session.tellPages()
                if !state.isPublished { session.close() }
            }
        }

        /// Sends a message to one viewer or all. Returns at once.
        ///
        /// - Returns: false where there is no such viewer.
        func send(_ body: PeerMessage.Body, over delivery: DataDelivery, labelled label: String?, to viewer: String?)
            -> Bool
        {
            let sessions = state.withLock { state in
                viewer.map { name in state.sessions[name].map { [$0] } ?? [] } ?? Array(state.sessions.values)
            }
            for session in sessions { session.send(body, over: delivery, labelled: label) }
            return viewer == nil || !sessions.isEmpty
        }

        /// Ends all sessions and takes no more. Waits, for two seconds at most, until those who wait for an answer have one.
        func close() {
            defer { _ = replies.wait(timeout: .now() + 2) }
            let sessions = state.withLock { state in
                state.isClosed = true
                return Array(state.sessions.values)
            }
            for session in sessions { session.close() }
        }

        /// What is known of each viewer.
        var statistics: [ViewerStatistics] { state.withLock { Array($0.sessions.values) }.map(\.statistics) }
    }
#endif
