import Inlet
import InletHTTPServer
import Logging
import NIOCore
import NIOHTTP1

/// The page that shows the time to a camera: a separate web server.
final class LatencyScreen {
    static let defaultAddress = "127.0.0.1:8093"
    private static let page = ByteBuffer(string: PackageTexts.screen_html)
    private static let mostConnections = 16

    /// The address of the page, for people.
    let address: String
    private let listener: HTTPListener

    /// Starts serving the page. Blocks briefly.
    ///
    /// - Parameter address: `HOST:PORT`; if others reach it, its page has a token.
    /// - Throws: ``InletError`` if the address is invalid or listening on it fails.
    init(at address: String) throws(InletError) {
        let place = try ListenAddress(address, scheme: "--screen-address")
        let access = AccessRule(host: place.host ?? "127.0.0.1", port: place.port ?? 8093, token: nil)
        listener = HTTPListener()
        let bound = try listener.listen(
            at: HTTPListener.Place(
                access, connections: Self.mostConnections, bodyBytes: 0, patience: .seconds(10)),
            logger: Logger(label: "inlet") { _ in SwiftLogNoOpLogHandler() }
        ) { Service($0) }
        self.address = HTTPListener.pages(of: access, at: bound)
    }

    /// Stops the server.
    func stop() { listener.stop() }

    /// Answers the requests of one connection: the page, and the time. Confined to its channel's thread.
    private final class Service: HTTPService {
        private weak var connection: HTTPConnection?
        private let clock = SystemClock()

        init(_ connection: HTTPConnection) { self.connection = connection }

        func isPublic(_ request: HTTPRequest) -> Bool { false }

        func begin(_ request: HTTPRequest, isKnown: Bool) -> HTTPStep {
            guard request.method == .GET else {
                return .answer(.text("Only GET is answered here.", .methodNotAllowed))
            }
            switch request.path {
            case "/":
                var page = HTTPAnswer(type: "text/html; charset=utf-8", body: LatencyScreen.page)
                if let cookie = connection?.cookieHeader(for: request) {
                    page.headers.add(name: "set-cookie", value: cookie)
                }
                return .answer(page)
            case "/time": return .answer(.text("\(clock.now.nanoseconds)", .ok))
            default: return .answer(.text("There is no such page.", .notFound))
            }
        }

        func finish(_ request: HTTPRequest, body: ByteBuffer) -> HTTPStep { begin(request, isKnown: true) }

        func abandon() {}
    }
}
