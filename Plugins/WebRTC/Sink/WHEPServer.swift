import InletCore
import InletHTTPServer
import InletRTC
import Logging
import NIOCore
import WebRTCEngine

/// The web server that viewers connect to.
final class WHEPServer: Sendable {
    /// The address on which it listens, such as `127.0.0.1:8091`.
    let address: String
    private let listener: HTTPListener

    private static let page = ByteBuffer(string: PackageTexts.viewer_html)

    /// Starts to listen. Blocks briefly, so it must not be called on a shared thread.
    ///
    /// - Throws: ``InletError`` if it cannot listen on the address.
    init(_ configuration: WebRTCSinkConfiguration, _ sessions: ViewerSessions, logger: Logger) throws(InletError) {
        let listener = HTTPListener()
        // Slightly more connections than viewers, whose requests are short.
        let place = HTTPListener.Place(
            configuration.access, connections: configuration.viewers + 64,
            bodyBytes: configuration.endpoint.bytes + 1, patience: .seconds(10))
        let loop = listener.loop
        address = try listener.listen(at: place, logger: logger) { connection in
            WHEPService(sessions, page: Self.page, connection: connection, loop: loop)
        }
        self.listener = listener
    }

    /// Closes all connections and ends the thread.
    func stop() { listener.stop() }
}
