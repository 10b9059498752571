#if WebRTC
    public import InletCore
    public import InletDecode
    public import InletRTC

    /// The video that a peer sends in a session over any signaling: the other half of a call.
    ///
    /// The source fails if no session comes up, and when the session ends; the capture then retries as it is told to,
    /// with a new channel.
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

        /// Returns a source that connects when it is opened.
        public func makePacketSource() -> any FrameSource {
            RemoteTrackSource(track, uri: redactedURI) {
                SignaledTrack(track, $0, role: role, makeChannel: makeChannel)
            }
        }
    }
#endif
