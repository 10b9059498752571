#if WebRTC
    import InletCore
    import InletHTTP
    import InletRTC
    import NIOCore
    import NIOHTTP1

    /// Answers the requests of one connection. Confined to its channel's thread.
    final class WHEPConnection: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        /// How long a connection may be without a whole request, or take for an answer.
        private static let idleLimit = TimeAmount.seconds(15)

        private let access: AccessRule
        private let sessions: ViewerSessions
        private let limit: RequestSizeLimit
        private var context: ChannelHandlerContext?
        private var head: HTTPRequestHead?
        private var request: WHEPRequest?
        private var body = ByteBuffer()
        private var bodyLimit = 0
        /// Whether a body is on its way that is not read.
        private var closesAfter = false
        /// Closes the connection when the client takes too long, whatever it is to do.
        private var deadline: Scheduled<Void>?

        init(access: AccessRule, sessions: ViewerSessions, limit: RequestSizeLimit) {
            self.access = access
            self.sessions = sessions
            self.limit = limit
        }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }

        func channelActive(context: ChannelHandlerContext) {
            expectMore()
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            deadline?.cancel()
            self.context = nil
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                // A second request before the first is answered. No browser sends one so.
                guard self.head == nil else { return context.close(promise: nil) }
                self.head = head
                expectMore()
                begin(head)
            case .body(var part):
                guard request != nil else { return }
                guard body.readableBytes + part.readableBytes <= bodyLimit else {
                    closesAfter = true
                    request = nil
                    return say(.init(status: 413))
                }
                body.writeBuffer(&part)
            case .end:
                limit.reset()
                if let request { finish(request) }
            }
        }

        // MARK: Requests

        private func begin(_ head: HTTPRequestHead) {
            let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            let (path, query) = (String(parts.first ?? "/"), parts.count > 1 ? parts[1] : "")
            let length = head.headers.first(name: "content-length").map { Int($0) ?? .max }
            let hasBody = head.headers.contains(name: "transfer-encoding") || (length ?? 0) != 0
            closesAfter = hasBody
            guard access.isOfThisHost(head) else { return say(Self.text(421, "This page is for this machine alone.")) }
            // A browser asks without credentials whether it may ask at all.
            let isPreflight = head.method == .OPTIONS && sessions.serves(path)
            let isKnown = access.isAllowed(head, query: query)
            guard isPreflight || isKnown else {
                var response = Self.text(401, "Open this page with ?token=, or send the token as a bearer token.")
                response.headers.append(.init("www-authenticate", "Bearer"))
                return say(response)
            }
            guard sessions.serves(path) else { return say(page(path, query, head.method)) }
            var headers: [String: String] = [:]
            for (name, value) in head.headers { headers[name.lowercased()] = value }
            let request = WHEPRequest(method: head.method.rawValue, path: path, headers: headers, length: length)
            let decision = sessions.decide(request, isWhole: false, isKnown: isKnown)
            guard case .read(let bytes) = decision else { return perform(decision, request) }
            (self.request, bodyLimit, closesAfter) = (request, bytes, false)
            body.clear()
        }

        private func finish(_ request: WHEPRequest) {
            var request = request
            self.request = nil
            guard let text = String(validating: body.readableBytesView, as: UTF8.self) else {
                return say(Self.text(400, "The body is not UTF-8."))
            }
            request.body = text
            perform(sessions.decide(request, isWhole: true, isKnown: true), request)
        }

        private func perform(_ decision: WHEPEndpoint.Decision, _ request: WHEPRequest) {
            switch decision {
            case .respond(let response): say(response)
            case .read: say(Self.text(400, "The body is missing."))
            case .trickle(let session, let fragment, let response):
                sessions.add(fragment, to: session)
                say(response)
            case .close(let session, let response):
                sessions.close(session)
                say(response)
            case .open(let sdp): open(sdp, request)
            }
        }

        private func open(_ sdp: String, _ request: WHEPRequest) {
            guard let context else { return }
            // The answer has a time of its own.
            expectMore()
            let promise = context.eventLoop.makePromise(of: WHEPResponse.self)
            sessions.begin(sdp, for: request) { promise.succeed($0) }
            let sessions = sessions
            promise.futureResult.assumeIsolated().whenSuccess { response in
                guard self.context != nil else {
                    // The viewer went away meanwhile.
                    if let place = response.value(of: "location")?.split(separator: "/").last {
                        sessions.close(String(place))
                    }
                    return
                }
                self.say(response)
            }
        }

        private func page(_ path: String, _ query: Substring, _ method: HTTPMethod) -> WHEPResponse {
            guard method == .GET || method == .HEAD else {
                return Self.text(405, "Only GET and HEAD are answered here.")
            }
            switch path {
            case "/":
                var response = WHEPResponse(
                    status: 200, headers: [.init("content-type", "text/html; charset=utf-8")], body: ViewerHTML.text)
                if let cookie = access.cookieHeader(query: query) {
                    response.headers.append(.init("set-cookie", cookie))
                }
                return response
            case "/stats.json":
                return WHEPResponse(
                    status: 200, headers: [.init("content-type", "application/json")],
                    body: ViewersJSON.text(of: sessions.statistics))
            default: return Self.text(404, "There is no such page.")
            }
        }

        // MARK: Answers

        private static func text(_ status: Int, _ text: String) -> WHEPResponse {
            WHEPResponse(
                status: status, headers: [.init("content-type", "text/plain; charset=utf-8")], body: text + "\n")
        }

        /// Nothing is kept by caches, nothing is loaded from elsewhere, and no other site shows the page in a frame.
        private static let commonHeaders = [
            ("cache-control", "no-store"), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
            (
                "content-security-policy",
                "default-src 'none'; connect-src 'self'; media-src 'self' blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'"
            ),
        ]

        private func say(_ response: WHEPResponse) {
            guard let context, let head else { return }
            let staysOpen = head.isKeepAlive && !closesAfter
            var headers = HTTPHeaders(Self.commonHeaders)
            for header in response.headers { headers.add(name: header.name, value: header.value) }
            if response.status != 204 { headers.add(name: "content-length", value: "\(response.body.utf8.count)") }
            headers.add(name: "connection", value: staysOpen ? "keep-alive" : "close")
            let status = HTTPResponseStatus(statusCode: response.status)
            context.write(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))),
                promise: nil)
            if head.method != .HEAD, response.status != 204 {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: response.body)))), promise: nil)
            }
            self.head = nil
            expectMore()
            let done = context.eventLoop.makePromise(of: Void.self)
            done.futureResult.assumeIsolated().whenComplete { _ in
                if !staysOpen { self.context?.close(promise: nil) }
            }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
        }

        /// Closes the connection unless something comes by then.
        private func expectMore() {
            deadline?.cancel()
            deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: Self.idleLimit) {
                self.context?.close(promise: nil)
            }
        }
    }
#endif
