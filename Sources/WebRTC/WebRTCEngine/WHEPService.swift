import InletCore
package import InletHTTPServer
import InletRTC
package import NIOCore
import NIOHTTP1

/// Answers the requests of one connection to an endpoint of WHEP or WHIP, and to its page. Confined to its
/// channel's thread; descriptions are parsed elsewhere.
package final class WHEPService: HTTPService {
    /// The time from an offer to its answer, whose own limit is shorter.
    private static let answerLimit = TimeAmount.seconds(15)
    private let sessions: any WHEPSessions
    private let page: ByteBuffer
    private weak var connection: HTTPConnection?
    private let loop: any EventLoop
    private let onOffer: ((Int) -> Void)?
    /// Counts requests, so that a response to an abandoned one is not sent for the next one.
    private var number = 0
    /// Withdraws the request that waits for its response; nil without one.
    private var withdraw: WHEPSessions.Withdrawal?

    /// - Parameters:
    ///   - sessions: the sessions that requests refer to.
    ///   - page: the page in HTML.
    ///   - connection: the connection whose requests are answered.
    ///   - loop: the server's one thread.
    ///   - onOffer: called with the status of the response to each offer whose body was read, even if the client
    ///     has disconnected meanwhile. The default, nil, calls nothing.
    package init(
        _ sessions: any WHEPSessions, page: ByteBuffer, connection: HTTPConnection, loop: any EventLoop,
        onOffer: ((Int) -> Void)? = nil
    ) {
        self.sessions = sessions
        self.page = page
        self.connection = connection
        self.loop = loop
        self.onOffer = onOffer
    }

    /// A browser sends its preflight request without credentials.
    package func isPublic(_ request: HTTPRequest) -> Bool {
        request.method == .OPTIONS && sessions.serves(request.path)
    }

    package func begin(_ request: HTTPRequest, isKnown: Bool) -> HTTPStep {
        guard sessions.serves(request.path) else { return .answer(page(request)) }
        guard let connection else { return .answer(.text("The server is about to end.", .serviceUnavailable)) }
        let asked = WHEPRequest(request)
        switch sessions.decide(asked, of: connection.client, isWhole: false, isKnown: isKnown) {
        case .respond(let response): return .answer(HTTPAnswer(response))
        case .read(let bytes): return .read(bytes)
        case .close(let session, let response):
            sessions.close(session)
            return .answer(HTTPAnswer(response))
        case .open, .trickle: return .answer(.text("The body is missing.", .badRequest))
        }
    }

    package func finish(_ request: HTTPRequest, body: ByteBuffer) -> HTTPStep {
        guard let connection else { return .answer(.text("The server is about to end.", .serviceUnavailable)) }
        number += 1
        let promise = loop.makePromise(of: WHEPResponse.self)
        withdraw = sessions.take(
            WHEPRequest(request), body: Array(body.readableBytesView), of: connection.client
        ) {
            promise.succeed($0)
        }
        let (asked, sessions, onOffer) = (number, sessions, request.method == .POST ? onOffer : nil)
        promise.futureResult.assumeIsolated().whenSuccess { [weak self] response in
            onOffer?(response.status)
            guard let self, asked == number, let connection = self.connection else {
                // The viewer disconnected meanwhile.
                if response.status == 201, let place = response.value(of: "location")?.split(atByte: "/").last {
                    sessions.close(String(place))
                }
                return
            }
            withdraw = nil
            connection.answer(HTTPAnswer(response))
        }
        return .later(
            within: Self.answerLimit, otherwise: .text("The server took too long.", .gatewayTimeout))
    }

    package func abandon() {
        number += 1
        withdraw?()
        withdraw = nil
    }

    private func page(_ request: HTTPRequest) -> HTTPAnswer {
        guard request.method == .GET || request.method == .HEAD else {
            return .text("Only GET and HEAD are answered here.", .methodNotAllowed)
        }
        switch request.path {
        case "/":
            var page = HTTPAnswer(type: "text/html; charset=utf-8", body: self.page)
            if let cookie = connection?.cookieHeader(for: request) {
                page.headers.add(name: "set-cookie", value: cookie)
            }
            return page
        case "/stats.json":
            return HTTPAnswer(type: "application/json", body: ByteBuffer(string: sessions.statisticsJSON))
        default: return .text("There is no such page.", .notFound)
        }
    }
}

extension WHEPRequest {
    /// Keeps only the headers that WHEP uses.
    fileprivate init(_ request: HTTPRequest) {
        var headers: [String: String] = [:]
        for name in ["content-type", "if-match", "origin"] { headers[name] = request.header(name) }
        self.init(method: request.method.rawValue, path: request.path, headers: headers, length: request.length)
        clientName = request.queryValue(of: "name").flatMap { String(validating: $0, as: UTF8.self) }
            .map { $0.sanitized(limit: Admission.longestName) }
    }
}

extension HTTPAnswer {
    fileprivate init(_ response: WHEPResponse) {
        self.init(
            HTTPResponseStatus(statusCode: response.status),
            headers: HTTPHeaders(response.headers.map { ($0.name, $0.value) }),
            body: ByteBuffer(string: response.body))
    }
}
