package import InletCore

/// The client's side of RTSP in HTTP (Apple, "Tunneling RTSP and RTP over HTTP"; ONVIF Streaming Specification,
/// `RTP/RTSP/HTTP/TCP`): the server sends the endless body of the answer to a GET, and the client sends, in base64, the
/// body of a POST on a second connection. The same `x-sessioncookie` joins the two.
///
/// A state machine without connections and without a clock. The caller carries out the returned ``Action`` and reports
/// the events of each connection.
package struct HTTPTunnel: Sendable {
    /// One of the two connections.
    package enum Leg: Sendable, Equatable {
        /// Carries the server's data.
        case get
        /// Carries the client's data.
        case post
    }

    /// An action for the caller.
    package enum Action: Sendable, Equatable {
        /// Open a connection that replaces this leg's previous one, and call ``HTTPTunnel/connected(_:)``.
        case connect(Leg)
        /// Close the leg's connection: the server takes nothing more on it. ``HTTPTunnel/reopen()`` begins another.
        case drop(Leg)
    }

    private let endpoint: HTTPEndpoint
    private let cookie: [UInt8]
    private var authentication: RTSPAuthentication
    private var get = Request()
    private var post = Request()
    /// The bytes of the POST's body so far.
    private var bodyLength = 0
    /// The body of the POST, to be repeated if the server asks for credentials; nil if it is too long, or taken.
    private var unconfirmed: [UInt8]?
    private var isPostOpen = false

    /// Whether the server has answered the GET: what follows on that connection is RTSP, unchanged.
    package private(set) var isCarrying = false
    /// Whether the server has sent anything since the POST was opened: it accepts the POST's data.
    package private(set) var isConfirmed = false

    /// The state of one leg's request.
    private struct Request: Sendable {
        var reader = HTTPHeadReader()
        /// The value of `Authorization`; nil if it had none.
        var authorization: [UInt8]?
        /// Whether it was sent to answer a refusal.
        var answersChallenge = false
        /// Whether the server has accepted it.
        var isAnswered = false
    }

    /// The stated length of the POST's body: the one that QuickTime, LIVE555, GStreamer and libavformat state. Servers
    /// read on beyond it; one that does not ends the POST, and gets another.
    package static let contentLength = 32_767
    /// The most bytes of a body that are repeated. The first requests are shorter.
    private static let longestRepetition = 16_384

    /// - Parameters:
    ///   - isEncrypted: whether the connections use TLS.
    ///   - basic: when Basic may be used. The default is always.
    ///   - cookie: the text that joins the two connections; nil means random text.
    ///   - clientNonce: the client's nonce for Digest. The default, nil, means a random one.
    package init(
        _ endpoint: HTTPEndpoint, credentials: RTSPCredentials?, isEncrypted: Bool,
        basic: RTSPAuthentication.BasicPolicy = .allowed, cookie: [UInt8]? = nil, clientNonce: [UInt8]? = nil
    ) {
        self.endpoint = endpoint
        authentication = RTSPAuthentication(
            credentials: credentials, isEncrypted: isEncrypted, basic: basic, clientNonce: clientNonce)
        // Darwin Streaming Server needs 22 characters, and gst-rtsp-server compares 23.
        let digits = Array("0123456789abcdef".utf8)
        self.cookie = cookie ?? (0..<22).compactMap { _ in digits.randomElement() }
    }

    /// Whether what ``encode(_:into:)`` returns can be sent now.
    package var canSend: Bool { isCarrying && isPostOpen }

    // MARK: Sending

    /// Records that a leg's connection is made.
    ///
    /// - Returns: what to send on it first.
    package mutating func connected(_ leg: Leg) -> [UInt8] {
        var headers = RTSPHeaders()
        headers.append("x-sessioncookie", cookie)
        headers.append(leg == .get ? "Accept" : "Content-Type", "application/x-rtsp-tunnelled")
        headers.append("Pragma", "no-cache")
        headers.append("Cache-Control", "no-cache")
        let method = leg == .get ? "GET" : "POST"
        let authorization = authentication.authorization(methodName: Array(method.utf8), uri: endpoint.target)
        if let authorization { headers.append("Authorization", authorization) }
        if leg == .post {
            headers.append("Content-Length", "\(Self.contentLength)")
            headers.append("Expires", "Sun, 9 Jan 1972 00:00:00 GMT")
        }
        // To a client of version 1.0 no server sends chunks (RFC 9112, section 6.1).
        let head = endpoint.head(method, version: "1.0", headers)
        switch leg {
        case .get:
            get.authorization = authorization
            return head
        case .post:
            let repeated = unconfirmed ?? []
            post.authorization = authorization
            (isPostOpen, isConfirmed) = (true, false)
            (bodyLength, unconfirmed) = (repeated.count, repeated)
            return head + repeated
        }
    }

    /// Appends the bytes as the POST's body carries them. Each call is padded and so must end at the end of a message:
    /// servers decode received bytes immediately.
    package mutating func encode(_ bytes: [UInt8], into output: inout [UInt8]) {
        let text = Base64Text.encode(bytes)
        output += text
        bodyLength = min(bodyLength &+ text.count, Int(Int32.max))
        guard let kept = unconfirmed else { return }
        unconfirmed = kept.count + text.count <= Self.longestRepetition ? kept + text : nil
    }

    /// Returns what to do before anything can be sent, if the server ended the POST; nil if there is nothing to do.
    package mutating func reopen() -> Action? {
        guard isCarrying, !isPostOpen else { return nil }
        post = Request()
        unconfirmed = nil
        return .connect(.post)
    }

    // MARK: Receiving

    /// Takes bytes that arrived on a leg.
    ///
    /// - Returns: how many of them belong to HTTP. On the GET those behind them are RTSP; it need not be called once
    ///   ``isCarrying`` is true.
    /// - Throws: the error that ends the tunnel.
    package mutating func receive(
        _ bytes: RawSpan, on leg: Leg
    ) throws(InletError) -> (consumed: Int, action: Action?) {
        switch leg {
        case .get:
            guard !isCarrying else { return (0, nil) }
            var position = 0
            guard let answer = try get.reader.read(bytes, &position) else { return (position, nil) }
            return (position, try take(getAnswer: answer))
        case .post:
            guard isPostOpen, !post.isAnswered else { return (bytes.byteCount, nil) }
            var position = 0
            guard let answer = try post.reader.read(bytes, &position) else { return (position, nil) }
            // The body of the answer has no meaning.
            return (bytes.byteCount, try take(postAnswer: answer))
        }
    }

    /// Records that RTSP has arrived on the GET.
    package mutating func noteArrival() {
        guard !isConfirmed, isPostOpen else { return }
        isConfirmed = true
        unconfirmed = nil
    }

    /// Records that the server has ended the POST's connection, or the GET's before ``isCarrying``.
    ///
    /// - Throws: ``InletError/Code/disconnected`` if the tunnel cannot continue without it.
    package mutating func ended(_ leg: Leg) throws(InletError) -> Action? {
        switch leg {
        case .get:
            throw InletError(
                .disconnected,
                "The server closed the connection without an answer. It may not offer RTSP over HTTP at this port.")
        case .post:
            guard isPostOpen else { return nil }
            // One that has read a message may still answer it.
            guard isConfirmed || bodyLength > 0 else {
                throw InletError(
                    .disconnected, "The server closed the connection of the HTTP tunnel that carries requests.")
            }
            return dropPost()
        }
    }

    private mutating func take(getAnswer answer: RTSPResponse) throws(InletError) -> Action {
        if answer.isHTTP, answer.status == 401 {
            get = try answered(get, answer)
            return .connect(.get)
        }
        guard answer.isHTTP, answer.isSuccess else { throw HTTPEndpoint.error(answer, carrier: "RTSP over HTTP") }
        let type = TextBytes.lowercased(answer.headers.first("Content-Type") ?? [])
        guard !type.starts(with: "text/".utf8) else {
            throw InletError(
                .unsupported, "The server answers with a web page instead of a tunnel. Check the port and the path.")
        }
        let encoding = TextBytes.lowercased(answer.headers.first("Transfer-Encoding") ?? [])
        guard encoding.isEmpty || encoding.elementsEqual("identity".utf8) else {
            throw InletError(.unsupported, "The server sends the tunnel in chunks, which no RTSP client expects.")
        }
        authentication.noteSuccess()
        isCarrying = true
        return .connect(.post)
    }

    private mutating func take(postAnswer answer: RTSPResponse) throws(InletError) -> Action? {
        if answer.isHTTP, answer.status == 401 {
            isPostOpen = false
            post = try answered(post, answer)
            return .connect(.post)
        }
        // Some servers answer the POST at once, others when it is complete, most never.
        if answer.isHTTP, answer.isSuccess, bodyLength < Self.contentLength {
            post.isAnswered = true
            return nil
        }
        guard isConfirmed else { throw HTTPEndpoint.error(answer, carrier: "RTSP over HTTP") }
        return dropPost()
    }

    /// Ends the POST. The next one is opened with the next message, so that a server that ends each at once gets no
    /// more connections than this client has messages.
    private mutating func dropPost() -> Action {
        isPostOpen = false
        unconfirmed = nil
        return .drop(.post)
    }

    /// Returns the request that answers a refusal.
    private mutating func answered(_ request: Request, _ answer: RTSPResponse) throws(InletError) -> Request {
        let outcome = authentication.take(
            challenges: answer.headers.values("WWW-Authenticate"), sent: request.authorization,
            wasAnsweringChallenge: request.answersChallenge)
        guard outcome == .retry else { throw authentication.error(outcome) }
        return Request(answersChallenge: true)
    }
}

extension HTTPTunnel: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The state of the tunnel, without its cookie and without credentials.
    package var description: String { "HTTP tunnel, carrying: \(isCarrying), confirmed: \(isConfirmed)" }

    /// The same as ``description``.
    package var debugDescription: String { description }

    /// A mirror without children, since `dump` would show the cookie and the authorization.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
