#if WebRTC
    public import InletCore
    public import InletDecode
    public import InletRTC

    /// The video that a peer sends: in a session of its own over any signaling, the other half of a call, or in the
    /// session in which it gets this side's.
    ///
    /// A source with a session of its own fails if that does not come up, and when it ends; the capture then retries as
    /// it is told to, with a new channel.
    ///
    ///     let session = try publisher.connect(channel, policy) { $0.isReceiving = true }
    ///     let peer = Capturer(RemoteTrackConfiguration(session))
    public struct RemoteTrackConfiguration: PacketSourceConfiguration {
        /// What logs and errors call the source, without credentials. The default is `peer:`.
        public var name = "peer:"
        /// Which side offers. The default is ``PeerSessionPolicy/Role-swift.enum/answering``: the peer that sends
        /// offers.
        public var role = PeerSessionPolicy.Role.answering
        /// How the track is received and decoded.
        public var track = TrackSettings()
        /// Returns the channel for one session. Called on the source's thread.
        public var makeChannel: @Sendable () throws(InletError) -> any SignalingChannel

        /// Creates a configuration with the defaults.
        ///
        /// - Parameter makeChannel: returns the channel for one session.
        public init(makeChannel: @escaping @Sendable () throws(InletError) -> any SignalingChannel) {
            self.makeChannel = makeChannel
        }

        /// The session in which the peer gets this side's video; nil for a session of its own.
        private var session: (any PeerSession)?

        /// Creates the configuration of what the peer sends in a session of `PeerPublisher` while
        /// ``PeerSessionConfiguration/isReceiving`` holds, with the defaults.
        ///
        /// The source opens at once, and is interrupted while the peer sends nothing. It takes the codec that the peer
        /// sends, ``TrackSettings/codec`` until that is known; where that changes, it fails with
        /// ``InletError/Code/formatChanged``, and a capture that retries goes on with the new one. It fails, too, when
        /// the session ends, which goes on when the source is closed. A session has one such source at a time: another
        /// fails with ``InletError/Code/busy``. ``role``, and of ``track`` the time-out and servers of a connection,
        /// have no effect.
        ///
        /// - Parameter session: the session, in any state.
        public init(_ session: any PeerSession) {
            self.init { () throws(InletError) in
                throw InletError(.internal, "A source of a session was to make another.")
            }
            self.session = session
        }

        /// The ``name``.
        public var redactedURI: String { name }

        /// How the packets are decoded.
        public var decoding: DecodingSettings { track.decoding }

        /// The decoders that may be used.
        public var decoders: [DecoderPlugin] {
            get { track.decoders }
            set { track.decoders = newValue }
        }

        /// The name of the decoder that is tried first.
        public var decoder: String? { track.decoder }

        /// Returns a source that connects, or has its session's packets, when it is opened.
        public func makePacketSource() -> any FrameSource {
            RemoteTrackSource(presentTrack, uri: redactedURI) { makeOrigin($0) }
        }

        /// How the track is received, with the codec that the session's peer sends if that is known.
        private var presentTrack: TrackSettings {
            var settings = track
            if let session, let codec = SessionTrack.codec(of: session) { settings.codec = codec }
            return settings
        }

        private func makeOrigin(_ pipeline: ReceivingPipeline) -> any TrackOrigin {
            guard let session else { return SignaledTrack(track, pipeline, role: role, makeChannel: makeChannel) }
            return SessionTrack(session, track, pipeline.codec)
        }
    }
#endif
