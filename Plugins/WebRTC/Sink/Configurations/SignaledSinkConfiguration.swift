public import InletCore
public import InletRTC
import InletSystem
import Logging
import Synchronization
import WebRTCEngine

/// Sends frames to every peer that requests them through a signaling service, such as the viewers of a Kinesis
/// Video master.
///
/// Without peers, nothing is converted or encoded. The sink fails when the service ends permanently.
public struct SignaledSinkConfiguration: FrameSinkConfiguration {
    /// The name of the sink in logs and errors, without credentials.
    public var name: String
    /// The largest picture size; larger pictures are scaled down. The default is 1280x720.
    public var largestSize = ImageSize(width: 1280, height: 720)
    /// The highest frame rate. The default, nil, is no limit.
    public var frameRate: Rational?
    /// The bit rates, and their reaction to loss.
    public var rates = RTCConfiguration().rates
    /// The controller of the bit rates. The default is ``RateControl/delay``.
    public var rateControl = RateControl.delay
    /// STUN and TURN servers in addition to the service's. Empty by default.
    public var ice = ICEServers()
    /// The number of threads of each encoder. The default is 1, which is sufficient for 720p.
    public var threads = 1
    /// Whether H.264 packets of the source are sent to peers unchanged, if possible: with a profile that a peer
    /// accepts, within ``largestSize`` and the highest bit rate. The default is true.
    public var passesThrough = true
    /// The names of the track in answers. The default is that of ``TrackName``.
    public var trackName = TrackName()
    /// The maximum number of peers at a time; more are not answered. The default is 10, the maximum number of
    /// viewers of a Kinesis Video channel.
    public var mostPeers = 10
    /// The time that a session may take to connect. The default is 30 seconds.
    public var connectTimeout = Duration.seconds(30)
    /// Returns an encoder, such as `FFmpegVideoEncoder`.
    public var makeEncoder: @Sendable () -> any VideoEncoder
    /// Returns the service, which connects by itself. Called on the sink's thread.
    public var makeService: @Sendable () throws(InletError) -> any SignalingService

    /// Creates a configuration with default values.
    ///
    /// - Parameters:
    ///   - name: the name of the sink in logs and errors.
    ///   - makeEncoder: returns an encoder.
    ///   - makeService: returns the service.
    public init(
        name: String, makeEncoder: @escaping @Sendable () -> any VideoEncoder,
        makeService: @escaping @Sendable () throws(InletError) -> any SignalingService
    ) {
        self.name = name
        self.makeEncoder = makeEncoder
        self.makeService = makeService
    }

    /// The ``name``.
    public var redactedURI: String { name }

    /// Returns a sink with this configuration. Nothing is opened yet.
    public func makeSink() -> any FrameSink { SignaledSink(self) }

    /// Checks the configuration.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if numbers contradict each other.
    public func validate() throws(InletError) {
        try rates.validate()
        try ice.validate()
        guard connectTimeout > .zero, mostPeers > 0 else {
            throw InletError(.invalidConfiguration, "connect-timeout and the number of peers must be above 0.")
        }
    }
}

/// Encodes frames for the peers of a service, and fails when the service has ended.
final class SignaledSink: FrameSink {
    /// The state shared by the task that follows the service and the sink's thread.
    private final class Shared: Sendable {
        let failure = Mutex<InletError?>(nil)
        let count = Mutex(0)
    }

    private let configuration: SignaledSinkConfiguration
    private let shared = Shared()
    private let publisher: PeerPublisher
    private let peers: PeerSink
    private var isRunning = false
    private var service: (any SignalingService)?
    private var following: Task<Void, Never>?

    init(_ configuration: SignaledSinkConfiguration) {
        self.configuration = configuration
        publisher = PeerPublisher(
            rates: configuration.rates, rateControl: configuration.rateControl, ice: configuration.ice,
            codecs: [.h264, .vp8], trackName: configuration.trackName, track: SentTrack(), hasFurtherOffers: false,
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

    private var failure: InletError? { shared.failure.withLock { $0 } }

    /// A frame is also taken to end a sink that has failed.
    var takesFrames: Bool { failure != nil || isRunning && peers.takesFrames }

    /// The counts of the sessions.
    var sessions: SinkSessions { peers.sessions }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        do {
            try configuration.validate()
            try peers.start(format, context)
            isRunning = true
            let service = try configuration.makeService()
            self.service = service
            let (settings, shared, publisher) = (configuration, shared, publisher)
            following = Task.detached {
                await SignaledSink.follow(service, publisher, settings, shared)
            }
        } catch {
            throw InletError(wrapping: error, operation: "Starting").about(configuration.redactedURI)
        }
    }

    func consume(_ frame: VideoFrame) throws {
        if let failure { throw failure.about(configuration.redactedURI) }
        try peers.consume(frame)
    }

    func sourceChanged(to condition: SourceCondition) { peers.sourceChanged(to: condition) }

    func finish() throws {
        let (service, following) = (service, following)
        (isRunning, self.service, self.following) = (false, nil, nil)
        // Peers are notified before the sink leaves the service.
        defer {
            following?.cancel()
            if let service { Task.detached { await service.close() } }
        }
        try peers.finish()
        if let failure { throw failure.about(configuration.redactedURI) }
    }

    /// Answers every peer that offers, until the service ends.
    private static func follow(
        _ service: any SignalingService, _ publisher: PeerPublisher, _ configuration: SignaledSinkConfiguration,
        _ shared: Shared
    ) async {
        let logger = Logger(label: "inlet.webrtc")
        for await event in service.events() {
            switch event {
            case .sessionRequested(let peer):
                guard publisher.sessions.count < configuration.mostPeers else {
                    logger.warning("\(configuration.name): too many peers; '\(peer)' gets no answer")
                    continue
                }
                let number = shared.count.withLock { count in
                    count += 1
                    return count
                }
                var policy = PeerSessionPolicy(role: .answering, name: "\(peer)#\(number)")
                policy.connecting = configuration.connectTimeout
                do {
                    _ = try publisher.connect(try service.channel(to: peer), policy)
                } catch {
                    logger.warning("\(error.about(configuration.name))")
                }
            case .closed(let error):
                shared.failure.withLock { $0 = error ?? InletError(.disconnected, "The signaling service ended.") }
            case .opened, .interrupted, .joined, .left, .reset, .call: break
            }
        }
    }
}
