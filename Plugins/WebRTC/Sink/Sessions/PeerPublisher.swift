public import InletCore
public import InletRTC
import InletSystem
import Logging
import Synchronization
import WebRTCEngine

/// Sends the frames of one sink to peers for which the application does the signaling. Safe from any thread.
///
///     let publisher = PeerPublisher { FFmpegVideoEncoder() }
///     capturer.attach(PeerSinkConfiguration(publisher))
///     let session = try publisher.connect(channel, PeerSessionPolicy(role: .offering, name: "studio"))
///
/// Peers share the encoders, which are idle without peers. Peers may connect before the first frame.
public final class PeerPublisher: Sendable {
    /// The track that all peers get. It controls whether pictures are shown and in which size. It exists before
    /// the sink, and outlives it.
    ///
    /// While the track is unpublished, nothing is sent, but sessions continue.
    public var track: any VideoTrack { sentTrack }
    /// The names of the track in this side's descriptions.
    public let trackName: TrackName

    let sentTrack: SentTrack
    /// Whether signaling supports further offers.
    private let hasFurtherOffers: Bool
    let hub: ViewerHub
    let codecs: [VideoCodec]
    let makeEncoder: @Sendable () -> any VideoEncoder
    private let rates: LossStepper.Settings
    private let rateControl: RateControl
    private let ice: ICEServers
    private let channels: [DataChannelParameters]
    private let limits: DataChannelLimits
    private let messaging: PeerMessaging?
    private let logger = Logger(label: "inlet.webrtc")
    private let state = Mutex(State())

    private struct State {
        var sessions: [String: SignaledSession] = [:]
        var isClosed = false
        var pipelines: [ViewerPipeline]?
    }

    /// Creates a publisher.
    ///
    /// - Parameters:
    ///   - rates: the bit rates, and their reaction to loss. The default is that of ``RTCConfiguration``.
    ///   - rateControl: the controller of the bit rates. The default is ``RateControl/delay``.
    ///   - ice: STUN and TURN servers. Empty by default.
    ///   - codecs: the codecs to send, in order of preference. Offers of this side contain all of them, and the
    ///     first one that the peer accepts is sent; a session may change that
    ///     (``PeerSessionConfiguration/codecs``).
    ///   - trackName: the names of the track in this side's descriptions. The default is that of ``TrackName``.
    ///   - channels: the data channels that an offer of this side opens, for
    ///     ``PeerSession/send(_:over:labelled:)``. A peer that makes the offer opens its own. Empty by default.
    ///   - limits: the limits on the memory that a peer may use by data channels.
    ///   - makeEncoder: returns an encoder, such as `FFmpegVideoEncoder`.
    public convenience init(
        rates: LossStepper.Settings = RTCConfiguration().rates, rateControl: RateControl = .delay,
        ice: ICEServers = ICEServers(), codecs: [VideoCodec] = [.h264, .vp8],
        trackName: TrackName = TrackName(), channels: [DataChannelParameters] = [],
        limits: DataChannelLimits = DataChannelLimits(), makeEncoder: @escaping @Sendable () -> any VideoEncoder
    ) {
        self.init(
            rates: rates, rateControl: rateControl, ice: ice, codecs: codecs, trackName: trackName,
            channels: channels, limits: limits, track: SentTrack(), hasFurtherOffers: true, makeEncoder: makeEncoder
        )
    }

    /// Creates a publisher for an existing track.
    init(
        rates: LossStepper.Settings, rateControl: RateControl, ice: ICEServers, codecs: [VideoCodec],
        trackName: TrackName, channels: [DataChannelParameters] = [],
        limits: DataChannelLimits = DataChannelLimits(), messaging: PeerMessaging? = nil, track: SentTrack,
        hasFurtherOffers: Bool,
        makeEncoder: @escaping @Sendable () -> any VideoEncoder
    ) {
        sentTrack = track
        self.hasFurtherOffers = hasFurtherOffers
        self.trackName = trackName
        self.rates = rates
        self.rateControl = rateControl
        self.ice = ice
        self.codecs = codecs
        self.channels = channels
        self.limits = limits
        self.messaging = messaging
        self.makeEncoder = makeEncoder
        hub = ViewerHub(keyFrameInterval: .milliseconds(500), maximum: rates.maximum)
    }

    /// Creates a publisher with the rates, the controller and the servers of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: the configuration, without ``RTCConfiguration/connectionTimeout``: the policy of each
    ///     session determines how long a connection may take, ``PeerSessionPolicy/connecting``.
    ///   - codecs: the codecs to send, in order of preference, as for
    ///     ``init(rates:rateControl:ice:codecs:trackName:channels:limits:makeEncoder:)``.
    ///   - trackName: the names of the track in this side's descriptions. The default is that of ``TrackName``.
    ///   - channels: the data channels that an offer of this side opens. Empty by default.
    ///   - limits: the limits on the memory that a peer may use by data channels.
    ///   - makeEncoder: returns an encoder, such as `FFmpegVideoEncoder`.
    /// - Throws: ``InletError/Code/invalidConfiguration`` as ``RTCConfiguration/validate()`` does, or if a
    ///   connection time-out is set.
    public convenience init(
        configuration: RTCConfiguration, codecs: [VideoCodec] = [.h264, .vp8],
        trackName: TrackName = TrackName(), channels: [DataChannelParameters] = [],
        limits: DataChannelLimits = DataChannelLimits(), makeEncoder: @escaping @Sendable () -> any VideoEncoder
    ) throws(InletError) {
        try configuration.validate()
        guard configuration.connectionTimeout == nil else {
            throw InletError(
                .invalidConfiguration,
                "connectionTimeout: PeerPublisher ignores it. Set PeerSessionPolicy.connecting instead.")
        }
        self.init(
            rates: configuration.rates, rateControl: configuration.rateControl, ice: configuration.ice,
            codecs: codecs, trackName: trackName, channels: channels, limits: limits, makeEncoder: makeEncoder)
    }

    /// Starts a session, or waits for an offer, depending on the policy.
    ///
    /// The session continues until it is closed, the peer leaves permanently, or the sink ends.
    ///
    /// - Parameters:
    ///   - channel: the channel to the peer. It is closed together with the session.
    ///   - policy: the policy, whose name must be different for every session.
    ///   - change: changes this side's initial settings, which ``PeerSession/configure(_:)`` changes later. The
    ///     first offer contains them; an answer contains those that the peer's offer allows. Called at once, on
    ///     this thread. The default changes nothing.
    /// - Throws: ``InletError/Code/unsupported`` if GStreamer lacks plug-ins, ``InletError/Code/busy`` if a
    ///   session with this name exists, ``InletError/Code/cancelled`` if the sink has ended,
    ///   ``InletError/Code/invalidConfiguration`` if the publisher's parameters or the configuration are invalid.
    public func connect(
        _ channel: any SignalingChannel, _ policy: PeerSessionPolicy,
        configure change: (inout PeerSessionConfiguration) -> Void = { _ in }
    ) throws(InletError) -> any PeerSession {
        try open(channel, policy, configure: change)
    }

    func open(
        _ channel: any SignalingChannel, _ policy: PeerSessionPolicy,
        configure change: (inout PeerSessionConfiguration) -> Void = { _ in }
    ) throws(InletError) -> SignaledSession {
        try rates.validate()
        try ice.validateBesideSignaling()
        try limits.validate(opening: channels)
        try trackName.validate()
        let environment = EngineSession.Environment(
            hub: hub, pipelines: try pipelines(), rateControl: rateControl, rates: rates, ice: ice,
            limits: limits, channels: channels, messaging: messaging, trackName: trackName,
            track: hasFurtherOffers ? sentTrack : nil, ledger: hub.ledger, logger: logger)
        var wanted = environment.configuration
        change(&wanted)
        try wanted.validate(limits, codecs: environment.pipelines.map(\.codec))
        let session: SignaledSession? = state.withLock { state in
            guard !state.isClosed, state.sessions[policy.name] == nil else { return nil }
            let session = SignaledSession(channel, policy, environment, wanted: wanted) {
                [weak self] _ in self?.remove(policy.name)
            }
            state.sessions[policy.name] = session
            return session
        }
        guard let session else {
            throw state.withLock { $0.isClosed }
                ? InletError(.cancelled, "The sink has ended, so there is nothing to send.")
                : InletError(.busy, "A session named '\(policy.name)' already exists. Use a unique name.")
        }
        return session
    }

    /// The highest bit rate of an encoding.
    var maximumBitrate: Int { rates.maximum }

    /// Returns the pipelines that this machine supports, which are determined once.
    private func pipelines() throws(InletError) -> [ViewerPipeline] {
        if let known = state.withLock({ $0.pipelines }) { return known }
        try GStreamerPeer.load()
        let found = try ViewerEncoders.usable(of: codecs, makeEncoder: makeEncoder)
        state.withLock { $0.pipelines = found }
        return found
    }

    /// The sessions that have not ended, by name.
    public var sessions: [String: any PeerSession] { state.withLock { $0.sessions } }

    private func remove(_ name: String) {
        // Must not be released under the lock.
        _ = state.withLock { $0.sessions.removeValue(forKey: name) }
    }

    /// Ends all sessions, accepts no more, and waits until peers are notified, up to the limit.
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

extension PeerPublisher: TrackAudience {
    func trackChanged(to state: VideoTrackState) {
        // A decoder may have been stopped meanwhile.
        if state.shown == .live { hub.requestKeyFrames() }
        for session in self.state.withLock({ Array($0.sessions.values) }) { session.trackChanged() }
    }
}
