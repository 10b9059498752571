import InletCore
import InletHTTPServer
import InletRTC
import Logging
import NIOCore
import WebRTCEngine

/// The track of the publisher at a WHIP endpoint: a web server with a page that turns a browser into a camera.
final class PublisherEndpoint: TrackOrigin {
    private let configuration: WHIPSourceConfiguration
    private let pipeline: ReceivingPipeline
    private var listener: HTTPListener?
    private var sessions: PublisherSessions?
    private static let page = ByteBuffer(string: PackageTexts.camera_html)
    /// The maximum number of connections, which are those of pages with short requests.
    private static let mostConnections = 64

    init(_ configuration: WHIPSourceConfiguration, _ pipeline: ReceivingPipeline) {
        self.configuration = configuration
        self.pipeline = pipeline
    }

    let vacancy: String? = "nobody publishes"

    func open(_ inbox: PacketInbox, _ context: SourceContext) throws(InletError) {
        try configuration.validate()
        let settings = configuration.track
        let environment = ReceivingSession.Environment(
            pipeline: pipeline, inbox: inbox, ice: settings.ice, address: configuration.gatheringAddress,
            hold: settings.latency, logger: context.logger)
        let sessions = PublisherSessions(configuration, environment)
        let listener = HTTPListener()
        let access = configuration.access
        let place = HTTPListener.Place(
            access, connections: Self.mostConnections, bodyBytes: sessions.endpoint(isKnown: true).bytes + 1,
            patience: .seconds(10))
        let loop = listener.loop
        let address = try listener.listen(at: place, logger: context.logger) { connection in
            WHEPService(sessions, page: Self.page, connection: connection, loop: loop)
        }
        (self.listener, self.sessions) = (listener, sessions)
        let text = address
        context.logger.notice(
            "Publish from a browser at \(HTTPListener.pages(of: access, at: text)), or by WHIP at http://\(text)/whip."
        )
    }

    func requestKeyFrame() { sessions?.requestKeyFrame() }

    func close() {
        sessions?.close()
        listener?.stop()
        (sessions, listener) = (nil, nil)
    }
}
