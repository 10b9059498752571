/// A message of a WebSocket.
package enum WebSocketMessage: Sendable, Hashable {
    case text(String)
    case binary([UInt8])

    /// The bytes of its content.
    package var count: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

/// The other side's reason for ending a WebSocket: the content of its close frame (RFC 6455, section 7.4).
package struct WebSocketClosing: Sendable, Hashable {
    /// The status code, such as 1000 for a normal end; nil if the frame does not state it.
    package var code: UInt16?
    /// Text for people; may be empty.
    package var reason: String

    package init(code: UInt16? = nil, reason: String = "") {
        self.code = code
        self.reason = reason
    }
}
