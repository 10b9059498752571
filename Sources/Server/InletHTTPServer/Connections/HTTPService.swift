package import NIOCore
package import NIOHTTP1

/// Answers the requests of one connection. Created for each connection, and called on the server's only thread.
///
/// One request is answered at a time: the next one is read after the response is written, or the connection is closed.
package protocol HTTPService: AnyObject {
    /// Returns whether a request is answered without the token, such as a browser's preflight request. Called before
    /// ``begin(_:isKnown:)``.
    func isPublic(_ request: HTTPRequest) -> Bool

    /// Returns the answer to a request without a right token: the given answer, or a page with the same status. The
    /// default returns the given answer.
    func unauthorized(_ request: HTTPRequest, _ answer: HTTPAnswer) -> HTTPAnswer

    /// Called when a request's head has arrived and is authorised.
    ///
    /// - Parameter isKnown: whether the request presents the token, or none is required; false if the request is public
    ///   and presents no token.
    func begin(_ request: HTTPRequest, isKnown: Bool) -> HTTPStep

    /// Called when the body that ``begin(_:isKnown:)`` asked for is complete.
    func finish(_ request: HTTPRequest, body: ByteBuffer) -> HTTPStep

    /// Called when a deferred request or the stream has ended because the client disconnected or took too long.
    func abandon()

    /// Called when a part of the stream has been sent and another part may be sent. The default does nothing.
    func didSend()
}

extension HTTPService {
    /// Does nothing.
    package func didSend() {}

    /// Returns the given answer.
    package func unauthorized(_ request: HTTPRequest, _ answer: HTTPAnswer) -> HTTPAnswer { answer }
}

/// The action for a request.
package enum HTTPStep {
    /// The request is answered.
    case answer(HTTPAnswer)
    /// The service reads the body, of at most this many bytes. Then ``HTTPService/finish(_:body:)`` is called.
    case read(Int)
    /// The service calls ``HTTPConnection/answer(_:)`` later. If it does not within the time, the given response is
    /// sent and ``HTTPService/abandon()`` is called.
    case later(within: TimeAmount, otherwise: HTTPAnswer)
    /// The service answers with an endless stream of parts, by ``HTTPConnection/send(_:)``.
    case stream(HTTPHeaders)
    /// The connection switches to another protocol (RFC 9110, 7.8). Status 101 with these headers is sent, and the
    /// returned handlers replace those of HTTP. The service is released and not called again.
    case upgrade(HTTPHeaders, () -> [any ChannelHandler])
}

/// A complete response.
package struct HTTPAnswer: Sendable {
    package var status: HTTPResponseStatus
    /// The headers in addition to those of every response.
    package var headers: HTTPHeaders
    package var body: ByteBuffer
    /// Whether the connection is closed after the response is written.
    package var closes = false

    package init(_ status: HTTPResponseStatus = .ok, headers: HTTPHeaders = [:], body: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package init(type: String, body: ByteBuffer) { self.init(headers: ["content-type": type], body: body) }

    /// Returns a response with a sentence for people.
    package static func text(_ text: String, _ status: HTTPResponseStatus) -> HTTPAnswer {
        HTTPAnswer(
            status, headers: ["content-type": "text/plain; charset=utf-8"], body: ByteBuffer(string: text + "\n"))
    }

    /// The icon of all pages. Browsers request it even if a page does not name it.
    static let icon = HTTPAnswer(
        type: "image/svg+xml",
        body: ByteBuffer(
            string: """
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" \
                fill="#2563eb"/><circle cx="16" cy="16" r="9" fill="none" stroke="#fff" stroke-width="3"/>\
                <circle cx="16" cy="16" r="3.5" fill="#fff"/></svg>
                """))

    /// The headers of every response. Caches store nothing, pages load nothing from elsewhere, and other sites cannot
    /// embed a response as a frame or a picture.
    static let commonHeaders = HTTPHeaders([
        ("cache-control", "no-store"), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "content-security-policy",
            "default-src 'none'; img-src 'self'; media-src 'self' blob:; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'"
        ),
    ])
}
