import InletCore
import InletHTTP
import Logging

/// The web server of a preview: its connections, and the pictures that go to them.
final class PreviewServer: Sendable {
    /// Where it listens, such as `127.0.0.1:8090`.
    let address: String
    private static let reserved = 32
    private let listener: HTTPListener
    private let hub: PictureHub

    /// Starts to listen. Blocks for the moment that this takes, so not to be called from a thread that others share.
    ///
    /// - Throws: ``InletError`` where the address cannot be had.
    init(
        _ configuration: PreviewSinkConfiguration, context: SinkContext, logger: Logger
    ) throws(InletError) {
        let listener = HTTPListener()
        let hub = PictureHub(listener.loop)
        let pages = PreviewPages(context)
        // Some connections more than streams: the page, its figures and whoever watches over it get answers where all
        // streams are taken.
        let place = HTTPListener.Place(
            configuration.access, connections: configuration.clients + Self.reserved, bodyBytes: 0,
            patience: configuration.patience)
        address = try listener.listen(at: place, logger: logger) { connection in
            PreviewService(configuration, pages: pages, hub: hub, connection: connection)
        }
        self.listener = listener
        self.hub = hub
    }

    /// Whether anybody waits for a picture.
    var isWatched: Bool { hub.isWatched }

    /// Hands an encoded picture to everyone who waits for one. Returns at once.
    func publish(_ jpeg: RawSpan) { hub.publish(jpeg) }

    /// Closes all connections and ends the thread. Returns when that is done, or after two seconds.
    func stop() { listener.stop() }
}
