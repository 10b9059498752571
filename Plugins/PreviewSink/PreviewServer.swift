import InletCore
import InletHTTP

/// The web server of a preview: its connections, and the pictures that go to them.
final class PreviewServer: Sendable {
    /// Where it listens, such as `127.0.0.1:8090`.
    let address: String
    private let listener: HTTPListener
    private let hub: PictureHub

    /// Starts to listen. Blocks for the moment that this takes, so not to be called from a thread that others share.
    ///
    /// - Throws: ``InletError`` where the address cannot be had.
    init(_ configuration: PreviewSinkConfiguration, statistics: any StatisticsReader) throws(InletError) {
        let listener = HTTPListener()
        let hub = PictureHub(listener.loop)
        let pages = PreviewPages(configuration, statistics: statistics)
        // Bodies are not taken at all, so a head is all that a request has.
        let place = HTTPListener.Place(
            host: configuration.host, port: configuration.port, connections: configuration.clients,
            requestBytes: RequestSizeLimit.headBytes)
        address = try listener.listen(at: place) { limit in
            PreviewConnection(configuration, pages: pages, hub: hub, limit: limit)
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
