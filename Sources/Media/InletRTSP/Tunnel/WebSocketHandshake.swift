package import InletCore
internal import InletDigest

/// The opening of a WebSocket for RTSP by the client (RFC 6455, section 4.1; ONVIF Streaming Specification, `WebSocket
/// transport for RTP/RTSP/TCP`), which may need a second connection if the server asks for credentials.
///
/// A state machine without a connection and without a clock.
package struct WebSocketHandshake: Sendable {
    /// The meaning of the server's bytes.
    package enum Outcome: Sendable, Equatable {
        /// More bytes are needed.
        case waiting
        /// Another connection is needed: the request is to be sent again with credentials.
        case reconnect
        /// The WebSocket is open. Frames follow.
        case open
    }

    private let endpoint: HTTPEndpoint
    private let key: [UInt8]
    private var authentication: RTSPAuthentication
    private var reader = HTTPHeadReader()
    private var authorization: [UInt8]?
    private var answersChallenge = false

    /// The subprotocol of RTSP (ONVIF Streaming Specification, `WebSocket Subprotocol`).
    private static let subprotocol = Array("rtsp.onvif.org".utf8)
    /// The text that the server appends to the key (RFC 6455, section 1.3).
    private static let suffix = Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)

    /// - Parameters:
    ///   - isEncrypted: whether the connection uses TLS.
    ///   - basic: when Basic may be used. The default is always.
    ///   - nonce: 16 bytes that the server's answer depends on; nil means random bytes.
    ///   - clientNonce: the client's nonce for Digest. The default, nil, means a random one.
    package init(
        _ endpoint: HTTPEndpoint, credentials: RTSPCredentials?, isEncrypted: Bool,
        basic: RTSPAuthentication.BasicPolicy = .allowed, nonce: [UInt8]? = nil, clientNonce: [UInt8]? = nil
    ) {
        self.endpoint = endpoint
        authentication = RTSPAuthentication(
            credentials: credentials, isEncrypted: isEncrypted, basic: basic, clientNonce: clientNonce)
        key = Base64Text.encode(nonce ?? (0..<16).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// Records that the connection is made.
    ///
    /// - Returns: the request to send on it.
    package mutating func connected() -> [UInt8] {
        reader = HTTPHeadReader()
        var headers = RTSPHeaders()
        headers.append("Upgrade", "websocket")
        headers.append("Connection", "Upgrade")
        headers.append("Sec-WebSocket-Key", key)
        headers.append("Sec-WebSocket-Version", "13")
        headers.append("Sec-WebSocket-Protocol", Self.subprotocol)
        authorization = authentication.authorization(methodName: Array("GET".utf8), uri: endpoint.target)
        if let authorization { headers.append("Authorization", authorization) }
        return endpoint.head("GET", version: "1.1", headers)
    }

    /// Takes bytes of the server.
    ///
    /// - Returns: how many of them belong to the handshake, and what they meant.
    /// - Throws: the error that ends the attempt.
    package mutating func receive(_ bytes: RawSpan) throws(InletError) -> (consumed: Int, outcome: Outcome) {
        var position = 0
        guard let answer = try reader.read(bytes, &position) else { return (position, .waiting) }
        if answer.isHTTP, answer.status == 401 {
            let outcome = authentication.take(
                challenges: answer.headers.values("WWW-Authenticate"), sent: authorization,
                wasAnsweringChallenge: answersChallenge)
            guard outcome == .retry else { throw authentication.error(outcome) }
            answersChallenge = true
            return (position, .reconnect)
        }
        guard answer.isHTTP, answer.status == 101 else {
            throw HTTPEndpoint.error(answer, carrier: "RTSP over WebSocket")
        }
        try check(answer.headers)
        return (position, .open)
    }

    /// Checks the answer (RFC 6455, section 4.1, the server's response, items 2 to 6).
    private func check(_ headers: RTSPHeaders) throws(InletError) {
        let expected = Base64Text.encode(MessageDigest.sha1.hash(key + Self.suffix))
        guard headers.values("Upgrade").contains(where: { TextBytes.isSame($0, ignoringCase: "websocket") }),
            headers.values("Connection").flatMap({ HeaderText.split($0, at: ",") })
                .contains(where: { TextBytes.isSame($0, ignoringCase: "upgrade") }),
            headers.first("Sec-WebSocket-Accept") == expected
        else {
            throw InletError(.malformedData, "The server's answer does not open the requested WebSocket.")
        }
        // No extension was offered, and each would change the meaning of frames.
        guard headers.first("Sec-WebSocket-Extensions")?.isEmpty ?? true else {
            throw InletError(.malformedData, "The server uses a WebSocket extension that was not offered.")
        }
        // Some servers leave the subprotocol out. Another one than requested does not carry RTSP.
        if let chosen = headers.first("Sec-WebSocket-Protocol"), chosen != Self.subprotocol {
            throw InletError(.unsupported, "The server's WebSocket does not carry RTSP. Check the path.")
        }
    }
}

extension WebSocketHandshake: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Only the kind of the value, without credentials.
    package var description: String { "WebSocket handshake" }

    /// The same as ``description``.
    package var debugDescription: String { description }

    /// A mirror without children, since `dump` would show the authorization.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
