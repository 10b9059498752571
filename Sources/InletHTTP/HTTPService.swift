package import NIOCore
package import NIOHTTP1

/// What a server says to the requests of one connection. Made for each connection, and called on the server's one
/// thread.
///
/// One request is answered at a time: the next one is read when the answer is written, or the connection is closed.
package protocol HTTPService: AnyObject {
    /// Whether a request is answered without the token, such as a browser's question whether it may ask at all. Called
    /// before ``begin(_:isKnown:)``.
    func isPublic(_ request: HTTPRequest) -> Bool

    /// A request's head is there, and shows what it must.
    ///
    /// - Parameter isKnown: whether it shows the token, or none is needed; false where it is public and shows none.
    func begin(_ request: HTTPRequest, isKnown: Bool) -> HTTPStep

    /// The body that ``begin(_:isKnown:)`` asked for is whole.
    func finish(_ request: HTTPRequest, body: ByteBuffer) -> HTTPStep

    /// The request that was to be answered later, or the stream, is over: the client is gone, or took too long.
    func abandon()
}

/// What is done about a request.
package enum HTTPStep {
    /// It is answered.
    case answer(HTTPAnswer)
    /// Its body is read, of at most so many bytes. Then ``HTTPService/finish(_:body:)`` is called.
    case read(Int)
    /// ``HTTPConnection/answer(_:)`` follows; where it does not within the time, it is answered so, and
    /// ``HTTPService/abandon()`` is called.
    case later(within: TimeAmount, otherwise: HTTPAnswer)
    /// It is answered by parts without an end, by ``HTTPConnection/send(_:)``.
    case stream(HTTPHeaders)
}

/// A whole answer.
package struct HTTPAnswer: Sendable {
    package var status: HTTPResponseStatus
    /// Besides those that every answer has.
    package var headers: HTTPHeaders
    package var body: ByteBuffer
    /// Whether the connection is closed when it is written.
    package var closes = false

    package init(_ status: HTTPResponseStatus = .ok, headers: HTTPHeaders = [:], body: ByteBuffer = ByteBuffer()) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package init(type: String, body: ByteBuffer) { self.init(headers: ["content-type": type], body: body) }

    /// A sentence for people.
    package static func text(_ text: String, _ status: HTTPResponseStatus) -> HTTPAnswer {
        HTTPAnswer(
            status, headers: ["content-type": "text/plain; charset=utf-8"], body: ByteBuffer(string: text + "\n"))
    }

    /// Nothing is kept by caches, loaded from elsewhere, or shown by another site, in a frame or as a picture.
    static let commonHeaders = HTTPHeaders([
        ("cache-control", "no-store"), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "content-security-policy",
            "default-src 'none'; img-src 'self'; media-src 'self' blob:; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'"
        ),
    ])
}
