public import InletCore
import InletRTC
import Logging
import WebRTCEngine

/// A sink whose frames go to the peers of a ``PeerPublisher``.
public struct PeerSinkConfiguration: FrameSinkConfiguration {
    /// The publisher whose peers get the frames. It serves one sink, once.
    public var publisher: PeerPublisher
    /// The largest picture size; larger pictures are scaled down. The default is 1280x720.
    public var largestSize = ImageSize(width: 1280, height: 720)
    /// The highest frame rate. The default, nil, is no limit.
    public var frameRate: Rational?
    /// Whether H.264 packets of the source are sent to peers unchanged, if possible. The default is true.
    public var passesThrough = true
    /// The time for which the source may be silent before the track counts as unpublished. The default, nil, is no
    /// limit.
    public var patience: Duration?
    /// The number of encodings of the source for each codec, from 1 to 3: the full size, half of it, and a quarter.
    /// The default is 1.
    public var tiers = 1
    /// The number of threads of each encoder. The default is 1, which is sufficient for 720p.
    public var threads = 1

    /// Creates a configuration with default values.
    public init(_ publisher: PeerPublisher) { self.publisher = publisher }

    /// The sink's name in logs.
    public var redactedURI: String { "peers" }

    /// Returns a sink with this configuration. Nothing is opened yet.
    public func makeSink() -> any FrameSink { PeerSink(self) }
}

/// Encodes frames for the peers of a publisher. Without peers, nothing is converted or encoded.
final class PeerSink: FrameSink {
    private let configuration: PeerSinkConfiguration
    private let encoders: ViewerEncoders
    private var pictures: TrackPictures
    private let logger = Logger(label: "inlet.webrtc")
    private var hub: ViewerHub { configuration.publisher.hub }
    /// The time for notifying peers that the sink has ended.
    private static let farewell = Duration.seconds(3)

    init(_ configuration: PeerSinkConfiguration) {
        self.configuration = configuration
        var encoding = WebRTCSinkConfiguration(makeEncoder: configuration.publisher.makeEncoder)
        encoding.tiers = configuration.tiers
        encoding.threads = configuration.threads
        encoders = ViewerEncoders(encoding, hub: configuration.publisher.hub)
        pictures = TrackPictures(configuration.publisher.sentTrack)
    }

    private var track: SentTrack { configuration.publisher.sentTrack }

    var wants: SinkWants {
        let adaptation = track.adaptation
        return SinkWants(
            largestSize: adaptation.size ?? configuration.largestSize, rotation: .applied, squarePixels: true,
            maximumFrameRate: adaptation.frameRate ?? configuration.frameRate)
    }

    func makePassThrough() -> PassThrough? {
        let publisher = configuration.publisher
        let limits = SourcePackets.Limits(
            largestSize: configuration.largestSize, bitrate: publisher.maximumBitrate,
            isAllowed: configuration.passesThrough && configuration.frameRate == nil
                && publisher.codecs.contains(.h264))
        return PassThrough(
            to: SourcePackets(limits, track, hub: hub, logger: logger), pictureRequest: hub.pictureRequest)
    }

    var takesFrames: Bool { encoders.takesFrames }

    /// The counts of the publisher's sessions.
    var sessions: SinkSessions { hub.ledger.figures }

    /// Returns the outcome of the sessions. Later failures no longer change it.
    ///
    /// - Parameter isOver: whether the sink ends even if a session has connected.
    func settle(isOver: Bool = true) -> (opened: UInt64, failure: InletError?) {
        hub.ledger.settle(isOver: isOver)
    }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        try GStreamerPeer.load()
        hub.ledger.begin(context)
        encoders.start(format, most: configuration.frameRate)
        track.begin(configuration.publisher, patience: configuration.patience)
    }

    func consume(_ frame: VideoFrame) throws {
        // Any picture closes unused encoders.
        guard hub.isWatched else { return try encoders.consume(frame) }
        if let picture = try pictures.picture(for: frame) { try encoders.consume(picture) }
    }

    func sourceChanged(to condition: SourceCondition) {
        hub.setInterrupted(condition != .live)
        track.sourceChanged(to: condition)
    }

    func finish() throws {
        track.end()
        configuration.publisher.finish(within: Self.farewell)
        encoders.finish()
        try hub.finish()
    }
}
