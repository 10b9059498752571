#if WebRTC
    public import InletCore
    public import InletRTC
    import InletSystem
    import Logging
    import Synchronization

    /// Sends the frames of one sink to peers with whom an application does the signaling. Safe from any thread.
    ///
    ///     let publisher = PeerPublisher { FFmpegVideoEncoder() }
    ///     capturer.attach(PeerSinkConfiguration(publisher))
    ///     let session = try publisher.connect(channel, PeerSessionPolicy(role: .offering, name: "studio"))
    ///
    /// Encoders are shared by peers, and rest while there are none. Peers may come before the first frame.
    public final class PeerPublisher: Sendable {
        let hub: ViewerHub
        let codecs: [VideoCodec]
        let makeEncoder: @Sendable () -> any VideoEncoder
        private let rates: LossStepper.Settings
        private let ice: ICEServers
        private let channels: [DataChannelParameters]
        private let limits: DataChannelLimits
        private let logger = Logger(label: "inlet.webrtc")
        private let state = Mutex(State())

        private struct State {
            var sessions: [String: SignaledSession] = [:]
            var isClosed = false
            var pipelines: [ViewerPipeline]?
        }

        /// - Parameters:
        ///   - rates: the bit rates, and how they follow loss.
        ///   - ice: STUN and TURN servers. The default is none.
        ///   - codecs: what is sent, the preferred ones first. An offer of ours holds the first alone; of a peer's
        ///     offer the first is taken that it has.
        ///   - channels: data channels that an offer of ours opens, for ``PeerSession/send(_:over:labelled:)``. A peer
        ///     that offers opens its own. The default is none.
        ///   - limits: how much a peer may take of memory by data channels.
        ///   - makeEncoder: makes an encoder, such as `FFmpegVideoEncoder`.
        public init(
            rates: LossStepper.Settings = LossStepper.Settings(), ice: ICEServers = ICEServers(),
            codecs: [VideoCodec] = [.h264, .vp8], channels: [DataChannelParameters] = [],
            limits: DataChannelLimits = DataChannelLimits(), makeEncoder: @escaping @Sendable () -> any VideoEncoder
        ) {
            self.rates = rates
            self.ice = ice
            self.codecs = codecs
            self.channels = channels
            self.limits = limits
            self.makeEncoder = makeEncoder
            hub = ViewerHub(keyFrameInterval: .milliseconds(500), maximum: rates.maximum)
        }

        /// Begins a session, or waits for an offer, as the policy says.
        ///
        /// The session goes on until it is closed, the peer leaves for good, or the sink ends.
        ///
        /// - Parameters:
        ///   - channel: the way to the peer; closed with the session.
        ///   - policy: its name must be another for every session.
        /// - Throws: ``InletError/Code/unsupported`` where GStreamer lacks plug-ins, ``InletError/Code/busy`` where
        ///   there is a session of this name, ``InletError/Code/cancelled`` where the sink has ended,
        ///   ``InletError/Code/invalidConfiguration`` where what the publisher was made of cannot be.
        public func connect(
            _ channel: any SignalingChannel, _ policy: PeerSessionPolicy
        ) throws(InletError) -> any PeerSession {
            try open(channel, policy)
        }

        func open(_ channel: any SignalingChannel, _ policy: PeerSessionPolicy) throws(InletError) -> SignaledSession {
            try rates.validate()
            try ice.validate()
            try limits.validate(opening: channels)
            let environment = EngineSession.Environment(
                hub: hub, pipelines: try pipelines(), rateControl: .automatic, rates: rates, ice: ice,
                limits: limits, channels: channels, logger: logger)
            let session: SignaledSession? = state.withLock { state in
                guard !state.isClosed, state.sessions[policy.name] == nil else { return nil }
                let session = SignaledSession(channel, policy, environment) {
                    [weak self] _ in self?.remove(policy.name)
                }
                state.sessions[policy.name] = session
                return session
            }
            guard let session else {
                throw state.withLock { $0.isClosed }
                    ? InletError(.cancelled, "The sink has ended, so there is nothing to send.")
                    : InletError(.busy, "There is a session named '\(policy.name)'. Each wants a name of its own.")
            }
            return session
        }

        /// What can be sent here, found out once.
        private func pipelines() throws(InletError) -> [ViewerPipeline] {
            if let known = state.withLock({ $0.pipelines }) { return known }
            try GStreamerViewer.load()
            let found = try ViewerEncoders.usable(of: codecs, makeEncoder: makeEncoder)
            state.withLock { $0.pipelines = found }
            return found
        }

        /// The sessions that are not over, by their names.
        public var sessions: [String: any PeerSession] { state.withLock { $0.sessions } }

        private func remove(_ name: String) {
            // Not let go of under the lock.
            _ = state.withLock { $0.sessions.removeValue(forKey: name) }
        }

        /// Ends all sessions, takes no more, and waits until peers were told, for so long at most.
        func finish(within limit: Duration) {
            let sessions = state.withLock { state in
                state.isClosed = true
                return Array(state.sessions.values)
            }
            for session in sessions { session.close() }
            let deadline = MonotonicTime.now + limit
            for session in sessions { session.waitForEnd(until: deadline) }
        }
    }
#endif
