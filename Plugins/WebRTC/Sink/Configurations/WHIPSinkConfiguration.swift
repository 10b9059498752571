import Foundation
public import InletCore
public import InletRTC
import InletSystem
import WebRTCEngine

/// Publishes to a media server by WHIP: `whip+https://HOST/PATH`.
///
/// The session restarts, with increasing waits, whenever it fails; the source is not affected. Frames without a
/// session are not converted; they are dropped and counted as ``DropReason/notConnected``. The sink fails if the
/// first session does not connect within ``connectTimeout``, if none has connected when the capture ends, and if
/// the server rejects it permanently, for example because of the token.
public struct WHIPSinkConfiguration: FrameSinkConfiguration {
    /// The address to which the offer is sent, with `http:` or `https:`.
    public var url: String
    /// The bearer token, which is sent only to that server. The default is nil.
    public var token: String?
    /// The largest picture size; larger pictures are scaled down. The default is 1280x720.
    public var largestSize = ImageSize(width: 1280, height: 720)
    /// The highest frame rate. The default, nil, is no limit.
    public var frameRate: Rational?
    /// The bit rates, and their reaction to loss.
    public var rates = RTCConfiguration().rates
    /// The controller of the bit rate. The default is ``RateControl/delay``.
    public var rateControl = RateControl.delay
    /// STUN and TURN servers in addition to those that the server names. Empty by default.
    public var ice = ICEServers()
    /// The number of encoding threads. The default is 1, which is sufficient for 720p.
    public var threads = 1
    /// The wait before the second reconnection attempt; the first one follows at once. The wait doubles with each
    /// attempt, up to half a minute. The default is a second.
    public var backOff = Duration.seconds(1)
    /// The time that the first session may take to connect. After that the sink fails, like a stream to a missing
    /// server, and is recreated if the application chose that. Once a session has connected, it is restarted
    /// without a limit. The default is 30 seconds.
    public var connectTimeout = Duration.seconds(30)
    /// The codec to send. The default is H.264, which every server accepts.
    public var codec = VideoCodec.h264
    /// Whether H.264 packets of the source are sent to the server unchanged, if possible: with a profile that the
    /// server accepts, within ``largestSize`` and the highest bit rate. The default is true.
    public var passesThrough = true
    /// The names of the track in the offer. The default is that of ``TrackName``.
    public var trackName = TrackName()
    /// The limits on the memory that the server may use by data channels, whichever side opens them. If
    /// ``openedChannels`` is empty, the session has no data channels.
    public var channels = DataChannelLimits()
    /// The data channels that each session opens with its offer. A server that rejects them gets only the picture;
    /// the log and ``PeerSessionEvent/channelsRejected`` report that. Empty by default.
    public var openedChannels: [DataChannelParameters] = []
    /// Exchanges messages with the server over data channels while the sink runs. It exists before the sink and
    /// outlives it. Copies of a configuration share it.
    ///
    /// Its events also report the session. WHIP has no second offer (RFC 9725), so a closed channel of
    /// ``openedChannels`` is opened again only with the next session.
    public let messaging = PeerMessaging()
    /// Controls the track while the sink runs. It exists before the sink and outlives it. Copies of a configuration
    /// share it.
    ///
    /// WHIP has no second offer (RFC 9725): while the track is unpublished, the session continues without pictures.
    public var track: any VideoTrack { sentTrack }
    let sentTrack = SentTrack()
    /// Returns an encoder for the given codec.
    public var makeEncoder: @Sendable () -> any VideoEncoder

    /// Creates a configuration with default values.
    ///
    /// - Parameters:
    ///   - url: the server's endpoint, with `http` or `https`.
    ///   - token: the bearer token. The default, nil, sends none.
    ///   - makeEncoder: returns the encoder, such as `FFmpegVideoEncoder`.
    public init(_ url: String, token: String? = nil, makeEncoder: @escaping @Sendable () -> any VideoEncoder) {
        self.url = url
        self.token = token
        self.makeEncoder = makeEncoder
    }

    /// Applies the rates, the controller, the connection time-out and the servers of a configuration. Values that
    /// it does not state get its defaults; the time-out stays unchanged.
    ///
    /// - Parameter configuration: the configuration, such as one read by ``RTCConfiguration/init(json:file:)``.
    /// - Throws: ``InletError/Code/invalidConfiguration`` as ``RTCConfiguration/validate()`` does.
    public mutating func apply(_ configuration: RTCConfiguration) throws(InletError) {
        try configuration.validate()
        (rates, rateControl) = (configuration.rates, configuration.rateControl)
        (ice.fixed, ice.isRelayOnly) = (configuration.iceServers, configuration.isRelayOnly)
        (ice.shared, ice.secret) = ([], "")
        connectTimeout = configuration.connectionTimeout ?? connectTimeout
    }

    /// The sink's URI, without credentials.
    public var redactedURI: String { "whip+" + Redaction.redact(uri: url) }

    /// Returns a sink with this configuration. Nothing is opened yet.
    public func makeSink() -> any FrameSink { WHIPSink(self) }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the address is invalid, or if numbers contradict each
    ///   other.
    public func validate() throws(InletError) {
        _ = try endpoint()
        try rates.validate()
        try ice.validate()
        try trackName.validate()
        try channels.validate(opening: openedChannels)
        guard connectTimeout > .zero else {
            throw InletError(.invalidConfiguration, "connect-timeout must be above 0, not \(connectTimeout).")
        }
        if let token, !token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) {
            throw InletError(.invalidConfiguration, "The token contains a space or non-ASCII characters.")
        }
    }

    func endpoint() throws(InletError) -> URL {
        guard let url = WHIPChannel.endpoint(url) else {
            throw InletError(
                .invalidConfiguration,
                "A WHIP endpoint must be http://HOST/PATH or https://HOST/PATH, without a user. Set the token with token=."
            )
        }
        return url
    }
}

/// Encodes frames for one server, and fails when the session with it has ended permanently.
final class WHIPSink: FrameSink {
    private let configuration: WHIPSinkConfiguration
    private let publisher: PeerPublisher
    private let peers: PeerSink
    private var isRunning = false
    private var session: SignaledSession?
    /// The time by which the first session must have connected.
    private var deadline = MonotonicTime.distantFuture

    private let uri: String
    private let trickles: Bool
    private let makeChannel: () throws(InletError) -> any SignalingChannel

    convenience init(_ configuration: WHIPSinkConfiguration) {
        self.init(configuration, uri: configuration.redactedURI) { () throws(InletError) in
            WHIPChannel(try configuration.endpoint(), token: configuration.token)
        }
    }

    /// - Parameters:
    ///   - uri: the name of the sink in errors.
    ///   - trickles: whether candidates are sent as they are found.
    ///   - makeChannel: returns the signaling with the server.
    init(
        _ configuration: WHIPSinkConfiguration, uri: String, trickles: Bool = false,
        makeChannel: @escaping () throws(InletError) -> any SignalingChannel
    ) {
        (self.uri, self.trickles, self.makeChannel) = (uri, trickles, makeChannel)
        self.configuration = configuration
        publisher = PeerPublisher(
            rates: configuration.rates, rateControl: configuration.rateControl, ice: configuration.ice,
            codecs: [configuration.codec], trackName: configuration.trackName,
            channels: configuration.openedChannels, limits: configuration.channels,
            messaging: configuration.messaging, track: configuration.sentTrack, hasFurtherOffers: false,
            makeEncoder: configuration.makeEncoder)
        var peer = PeerSinkConfiguration(publisher)
        peer.largestSize = configuration.largestSize
        peer.frameRate = configuration.frameRate
        peer.threads = configuration.threads
        peer.passesThrough = configuration.passesThrough
        peers = PeerSink(peer)
    }

    var wants: SinkWants { peers.wants }

    func makePassThrough() -> PassThrough? { peers.makePassThrough() }

    /// A frame is also taken to end a sink that has failed.
    var takesFrames: Bool { hasFailed || isRunning && peers.takesFrames }

    /// The number of sessions that have connected.
    private var opened: UInt64 { peers.sessions.opened }

    /// Whether the sink cannot continue.
    private var hasFailed: Bool {
        guard let session else { return false }
        if case .ended = session.state { return true }
        return opened == 0 && .now >= deadline
    }

    /// Returns the reason why the sink cannot continue; nil if a session has connected at the last moment.
    private func failure() -> InletError? {
        guard let session, case .ended(let end) = session.state else {
            let (opened, cause) = peers.settle(isOver: false)
            return opened == 0 ? neverConnected(cause) : nil
        }
        _ = peers.settle()
        return session.failure ?? end.error ?? InletError(.disconnected, "The server ended the session.")
    }

    private func neverConnected(_ cause: InletError?) -> InletError {
        // A permanent rejection by the server or a relay ends the session by itself. Everything else may be
        // temporary.
        let mayPass = cause?.code != .authenticationFailed && cause?.code != .tlsFailed
        return InletError(
            mayPass ? cause?.code ?? .timedOut : .timedOut,
            "No session with the server was established. "
                + (cause?.message ?? "It was still connecting: check the server and the network."),
            cause: cause, context: cause?.context ?? .init())
    }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        do {
            try configuration.validate()
            let channel = try makeChannel()
            try peers.start(format, context)
            isRunning = true
            var policy = PeerSessionPolicy(role: .offering, name: RandomName.make())
            policy.attempts = .max
            policy.backOff = configuration.backOff
            policy.trickles = trickles
            session = try publisher.open(channel, policy)
            deadline = .now + configuration.connectTimeout
        } catch {
            throw InletError(wrapping: error, operation: "Starting").about(uri)
        }
    }

    func consume(_ frame: VideoFrame) throws {
        if hasFailed, let failure = failure() { throw failure.about(uri) }
        try peers.consume(frame)
    }

    func sourceChanged(to condition: SourceCondition) { peers.sourceChanged(to: condition) }

    func finish() throws {
        let (opened, cause) = peers.settle()
        let failure = opened == 0 && session != nil ? neverConnected(cause) : nil
        (session, isRunning) = (nil, false)
        do {
            try peers.finish()
        } catch {
            // The failure to connect is more informative than a pipeline that closes slowly.
            guard let failure, (error as? InletError)?.code == .timedOut else { throw error }
            throw failure.about(uri)
        }
        if let failure { throw failure.about(uri) }
    }
}
