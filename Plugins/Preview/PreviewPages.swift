import InletCore
import InletHTTPServer
import NIOCore
import NIOHTTP1

/// Decides the response to a request. Stateless, so that any thread may call it.
struct PreviewPages: Sendable {
    /// The response to a request.
    enum Answer {
        case page(HTTPAnswer)
        case snapshot
        case stream
    }

    private static let page = ByteBuffer(string: PackageTexts.preview_html)
    private let context: SinkContext

    /// - Parameter context: provides the statistics and the state to show.
    init(_ context: SinkContext) { self.context = context }

    /// - Parameter cookie: the header with which a browser remembers that it sent the token; nil if it sent none.
    func answer(to request: HTTPRequest, cookie: String?) -> Answer {
        switch request.path {
        case "/":
            var page = HTTPAnswer(type: "text/html; charset=utf-8", body: Self.page)
            if let cookie { page.headers.add(name: "set-cookie", value: cookie) }
            return .page(page)
        case "/stream.mjpg": return .stream
        case "/snapshot.jpg": return .snapshot
        case "/stats.json":
            let text = StatisticsJSON.text(of: context.statistics)
            return .page(HTTPAnswer(type: "application/json", body: ByteBuffer(string: text)))
        case "/metrics":
            let text = PrometheusText.text(of: context.statistics)
            return .page(HTTPAnswer(type: "text/plain; version=0.0.4; charset=utf-8", body: ByteBuffer(string: text)))
        case "/healthz": return .page(health)
        default: return .page(.text("Page not found.", .notFound))
        }
    }

    private var health: HTTPAnswer {
        let statistics = context.statistics
        let text = statistics.phase == nil ? "unknown" : statistics.stateDescription
        return .text(text, statistics.phase == .live ? .ok : .serviceUnavailable)
    }
}
