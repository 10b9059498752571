import InletCore
import InletHTTP
import NIOCore
import NIOHTTP1

/// Decides what a request gets. Holds no state, so that any thread may ask.
struct PreviewPages: Sendable {
    /// What a request asks for.
    enum Answer {
        case page(HTTPAnswer)
        case snapshot
        case stream
    }

    private static let page = ByteBuffer(bytes: PackageResources.preview_html)
    private let statistics: any StatisticsReader

    init(statistics: any StatisticsReader) { self.statistics = statistics }

    /// - Parameter cookie: the header that has a browser keep that it showed the token; nil where it showed none.
    func answer(to request: HTTPRequest, cookie: String?) -> Answer {
        switch request.path {
        case "/":
            var page = HTTPAnswer(type: "text/html; charset=utf-8", body: Self.page)
            if let cookie { page.headers.add(name: "set-cookie", value: cookie) }
            return .page(page)
        case "/stream.mjpg": return .stream
        case "/snapshot.jpg": return .snapshot
        case "/stats.json":
            let text = StatisticsJSON.text(of: statistics.report())
            return .page(HTTPAnswer(type: "application/json", body: ByteBuffer(string: text)))
        case "/metrics":
            let text = PrometheusText.text(of: statistics.report())
            return .page(HTTPAnswer(type: "text/plain; version=0.0.4; charset=utf-8", body: ByteBuffer(string: text)))
        case "/healthz": return .page(health)
        default: return .page(.text("There is no such page.", .notFound))
        }
    }

    private var health: HTTPAnswer {
        let report = statistics.report()
        let text = report.state == nil ? "unknown" : report.stateDescription
        return .text(text, report.state == .live ? .ok : .serviceUnavailable)
    }
}
