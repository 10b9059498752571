import InletCore
import InletHTTPServer
import Logging

/// The web server of a preview: its connections, and the pictures that are sent to them.
final class PreviewServer: Sendable {
    /// The address on which it listens, such as `127.0.0.1:8090`.
    let address: String
    private static let reserved = 32
    private let listener: HTTPListener
    private let hub: PictureHub

    /// Starts to listen. Blocks briefly, so it must not be called on a shared thread.
    ///
    /// - Throws: ``InletError`` if it cannot listen on the address.
    init(
        _ configuration: PreviewSinkConfiguration, context: SinkContext, logger: Logger
    ) throws(InletError) {
        let listener = HTTPListener()
        let hub = PictureHub(listener.loop, context: context)
        let pages = PreviewPages(context)
        // Slightly more connections than streams, so that the page, its statistics and monitoring are served even if
        // all streams are in use.
        let place = HTTPListener.Place(
            configuration.access, connections: configuration.clients + Self.reserved, bodyBytes: 0,
            patience: configuration.patience)
        address = try listener.listen(at: place, logger: logger) { connection in
            PreviewService(configuration, pages: pages, hub: hub, connection: connection)
        }
        self.listener = listener
        self.hub = hub
    }

    /// Whether any client is waiting for a picture.
    var isWatched: Bool { hub.isWatched }

    /// Passes an encoded picture to all clients that are waiting for one. Returns at once.
    func publish(_ jpeg: RawSpan) { hub.publish(jpeg) }

    /// Closes all connections and ends the thread. Returns when that is done, or after two seconds.
    func stop() { listener.stop() }
}
