import InletCore
import InletHTTPServer
import InletRTC
import Logging
import WebRTCEngine

/// Sends the latest frames to viewers that connect by WHEP. Without viewers, nothing is converted or encoded.
final class WebRTCSink: FrameSink {
    private let configuration: WebRTCSinkConfiguration
    private let hub: ViewerHub
    private let encoders: ViewerEncoders
    private let logger = Logger(label: "inlet.webrtc")
    /// The application's server for viewers; nil if the sink has its own.
    private let host: WHEPHost?
    private var server: WHEPServer?
    private var sessions: ViewerSessions?
    private var pictures: TrackPictures

    init(_ configuration: WebRTCSinkConfiguration, host: WHEPHost? = nil) {
        (self.configuration, self.host) = (configuration, host)
        hub = ViewerHub(keyFrameInterval: .milliseconds(500), maximum: configuration.rates.maximum)
        encoders = ViewerEncoders(configuration, hub: hub)
        pictures = TrackPictures(configuration.broadcast.track)
    }

    /// Pictures are rotated here if some viewer does not rotate them, and without viewers.
    var wants: SinkWants {
        let adaptation = configuration.broadcast.track.adaptation
        return SinkWants(
            largestSize: adaptation.size ?? configuration.largestSize,
            rotation: hub.needsUpright || !hub.isWatched ? .applied : .metadata, squarePixels: true,
            maximumFrameRate: adaptation.frameRate ?? configuration.frameRate)
    }

    /// Nothing is converted while there are no viewers.
    var takesFrames: Bool { encoders.takesFrames }

    func makePassThrough() -> PassThrough? {
        PassThrough(
            to: SourcePackets(
                .init(configuration), configuration.broadcast.track, hub: hub, logger: logger),
            pictureRequest: hub.pictureRequest)
    }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        do {
            try configuration.validate()
            try GStreamerPeer.load()
            let pipelines = try ViewerEncoders.usable(
                of: configuration.codecs, makeEncoder: configuration.makeEncoder)
            encoders.start(format, most: configuration.frameRate)
            let sessions = ViewerSessions(
                configuration, hub: hub, pipelines: pipelines, places: host?.places, logger: logger)
            if host == nil {
                let server = try WHEPServer(configuration, sessions, logger: logger)
                let pages = HTTPListener.pages(of: configuration.access, at: server.address)
                logger.notice("The picture is at \(pages), for WHEP players at /whep")
                self.server = server
            }
            self.sessions = sessions
            configuration.broadcast.begin(sessions, patience: configuration.patience)
            sessions.warmUp()
            hub.ledger.begin(context)
            host?.begin(sessions)
        } catch {
            let error = InletError(wrapping: error, operation: "Starting").about(configuration.redactedURI)
            host?.fail(error)
            throw error
        }
    }

    func consume(_ frame: VideoFrame) throws {
        // Any picture closes unused encoders.
        guard hub.isWatched else { return try encoders.consume(frame) }
        if let picture = try pictures.picture(for: frame) { try encoders.consume(picture) }
    }

    func sourceChanged(to condition: SourceCondition) {
        hub.setInterrupted(condition != .live)
        configuration.broadcast.track.sourceChanged(to: condition)
    }

    func finish() throws {
        configuration.broadcast.end()
        if let sessions {
            host?.end(sessions)
            sessions.close()
        }
        server?.stop()
        (server, sessions) = (nil, nil)
        encoders.finish()
        try hub.finish()
    }
}
