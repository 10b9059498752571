public import InletCore
public import InletDecode
public import InletRTC

/// The video of a peer: in a separate session over any signaling, as the other half of a call, or in the session
/// that also sends this side's video.
///
/// A source with a separate session fails if that session does not connect, and when it ends. The capture then
/// retries according to its policy, with a new channel.
///
///     let session = try publisher.connect(channel, policy) { $0.isReceiving = true }
///     let peer = Capturer(RemoteTrackConfiguration(session))
public struct RemoteTrackConfiguration: PacketSourceConfiguration {
    /// The name of the source in logs and errors, without credentials. The default is `peer:`.
    public var name = "peer:"
    /// The side that makes the offer. The default is ``PeerSessionPolicy/Role-swift.enum/answering``: the sending
    /// peer makes it.
    public var role = PeerSessionPolicy.Role.answering
    /// The settings for receiving and decoding the track.
    public var track = TrackSettings()
    /// Returns the channel for one session. Called on the source's thread.
    public var makeChannel: @Sendable () throws(InletError) -> any SignalingChannel

    /// Creates a configuration with default values.
    ///
    /// - Parameter makeChannel: returns the channel for one session.
    public init(makeChannel: @escaping @Sendable () throws(InletError) -> any SignalingChannel) {
        self.makeChannel = makeChannel
    }

    /// The session that also sends this side's video; nil for a separate session.
    private var session: (any PeerSession)?

    /// Creates the configuration, with default values, for the peer's video in a session of `PeerPublisher` while
    /// ``PeerSessionConfiguration/isReceiving`` is true.
    ///
    /// The source opens at once, and is interrupted while the peer sends nothing. It uses the codec that the peer
    /// sends, or ``TrackSettings/codec`` until that is known. If the codec changes, the source fails with
    /// ``InletError/Code/formatChanged``, and a capture that retries continues with the new one. The source also
    /// fails when the session ends, but the session continues when the source is closed. A session has one such
    /// source at a time: another one fails with ``InletError/Code/busy``. ``role`` and, in ``track``, the
    /// connection time-out and the servers have no effect.
    ///
    /// - Parameter session: the session, in any state.
    public init(_ session: any PeerSession) {
        self.init { () throws(InletError) in
            throw InletError(.internal, "A source of a session cannot create another session.")
        }
        self.session = session
    }

    /// The ``name``.
    public var redactedURI: String { name }

    /// The configuration of decoding.
    public var decoding: DecodingSettings { track.decoding }

    /// The decoders that may be used.
    public var decoders: [DecoderPlugin] {
        get { track.decoders }
        set { track.decoders = newValue }
    }

    /// The name of the decoder to try first.
    public var decoder: String? { track.decoder }

    /// Returns a source that connects, or attaches to its session, when it is opened.
    public func makePacketSource() -> any FrameSource {
        RemoteTrackSource(presentTrack, uri: redactedURI) { makeOrigin($0) }
    }

    /// The settings of the track, with the codec that the session's peer sends, if it is known.
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
