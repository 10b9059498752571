import InletCore
import InletHTTP
import NIOCore
import NIOHTTP1

/// Decides what a request gets. Holds no state, so that any thread may ask.
struct PreviewPages: Sendable {
    /// What a request asks for.
    enum Answer {
        case page(PreviewPage)
        case snapshot
        case stream
    }

    private let access: AccessRule
    private let statistics: any StatisticsReader

    init(_ configuration: PreviewSinkConfiguration, statistics: any StatisticsReader) {
        access = configuration.access
        self.statistics = statistics
    }

    func answer(to request: HTTPRequestHead) -> Answer {
        let parts = request.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let (path, query) = (parts.first ?? "/", parts.count > 1 ? parts[1] : "")
        guard access.isOfThisHost(request) else {
            return .page(.text("This page is for this machine alone.", .misdirectedRequest))
        }
        guard access.isAllowed(request, query: query) else {
            var page = PreviewPage.text(
                "Open this page with ?token=, or send the token as a bearer token.", .unauthorized)
            page.headers.add(name: "www-authenticate", value: "Bearer")
            return .page(page)
        }
        switch path {
        case "/": return .page(page(query: query))
        case "/stream.mjpg": return .stream
        case "/snapshot.jpg": return .snapshot
        case "/stats.json":
            return .page(PreviewPage(type: "application/json", text: StatisticsJSON.text(of: statistics.report())))
        case "/metrics":
            return .page(
                PreviewPage(
                    type: "text/plain; version=0.0.4; charset=utf-8", text: PrometheusText.text(of: statistics.report())
                ))
        case "/healthz": return .page(health)
        default: return .page(.text("There is no such page.", .notFound))
        }
    }

    private func page(query: Substring) -> PreviewPage {
        var page = PreviewPage(type: "text/html; charset=utf-8", text: PreviewHTML.text)
        if let cookie = access.cookieHeader(query: query) { page.headers.add(name: "set-cookie", value: cookie) }
        return page
    }

    private var health: PreviewPage {
        let report = statistics.report()
        let text = report.state.isEmpty ? "unknown" : report.stateDescription
        return .text(text, report.state == "live" ? .ok : .serviceUnavailable)
    }
}

/// A whole answer.
struct PreviewPage {
    var status = HTTPResponseStatus.ok
    var headers: HTTPHeaders
    var body: ByteBuffer

    /// Nothing is kept by caches, nothing is loaded from elsewhere, and no other site shows the page in a frame.
    static let commonHeaders = HTTPHeaders([
        ("cache-control", "no-store"), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
        (
            "content-security-policy",
            "default-src 'none'; img-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'"
        ),
    ])

    init(type: String, body: ByteBuffer) {
        headers = Self.commonHeaders
        headers.add(name: "content-type", value: type)
        headers.add(name: "content-length", value: String(body.readableBytes))
        self.body = body
    }

    init(type: String, text: String) { self.init(type: type, body: ByteBuffer(string: text)) }

    static func text(_ text: String, _ status: HTTPResponseStatus) -> PreviewPage {
        var page = PreviewPage(type: "text/plain; charset=utf-8", text: text + "\n")
        page.status = status
        return page
    }
}
