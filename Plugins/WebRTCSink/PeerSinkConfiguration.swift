#if WebRTC
    public import InletCore
    import InletWebRTC

    /// A sink whose frames go to the peers of a ``PeerPublisher``.
    public struct PeerSinkConfiguration: FrameSinkConfiguration {
        /// The publisher whose peers get the frames. It serves one sink, once.
        public var publisher: PeerPublisher
        /// The largest pictures; larger ones are scaled down. The default is 1280x720.
        public var largestSize = ImageSize(width: 1280, height: 720)
        /// The highest frame rate. The default, nil, is no limit.
        public var frameRate: Rational?
        /// The number of encodings of the source for each codec, from 1 to 3: the full size, half of it, and a quarter.
        /// The default is 1.
        public var tiers = 1
        /// The number of threads of each encoder. The default is 1, which is enough for 720p.
        public var threads = 1

        /// Creates a configuration with the default of each property.
        public init(_ publisher: PeerPublisher) { self.publisher = publisher }

        /// The sink's name in logs.
        public var redactedURI: String { "peers" }

        /// Returns a sink with this configuration. Opens nothing yet.
        public func makeSink() -> any FrameSink { PeerSink(self) }
    }

    /// Encodes frames for the peers of a publisher. Nothing is converted or encoded while there are none.
    final class PeerSink: FrameSink {
        private let configuration: PeerSinkConfiguration
        private let encoders: ViewerEncoders
        private var hub: ViewerHub { configuration.publisher.hub }
        /// The time for notifying peers that the sink has ended.
        private static let farewell = Duration.seconds(3)

        init(_ configuration: PeerSinkConfiguration) {
            self.configuration = configuration
            var encoding = WebRTCSinkConfiguration(makeEncoder: configuration.publisher.makeEncoder)
            encoding.tiers = configuration.tiers
            encoding.threads = configuration.threads
            encoders = ViewerEncoders(encoding, hub: configuration.publisher.hub)
        }

        var wants: SinkWants {
            SinkWants(
                largestSize: configuration.largestSize, rotation: .applied, maximumFrameRate: configuration.frameRate)
        }

        var takesFrames: Bool { encoders.takesFrames }

        /// The counts of the publisher's sessions.
        var sessions: SinkSessions { hub.ledger.figures }

        func start(_ format: VideoFormat, _ context: SinkContext) throws {
            try GStreamerPeer.load()
            hub.ledger.begin(context)
            encoders.start(format, most: configuration.frameRate)
        }

        func consume(_ frame: VideoFrame) throws { try encoders.consume(frame) }

        func finish() throws {
            configuration.publisher.finish(within: Self.farewell)
            encoders.finish()
            try hub.finish()
        }
    }
#endif
