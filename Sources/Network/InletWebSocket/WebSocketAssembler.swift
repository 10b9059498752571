import InletCore
import NIOCore
import NIOWebSocket

/// Makes messages from a server's frames, and checks these against RFC 6455. A value without input or output.
struct WebSocketAssembler {
    /// The meaning of a frame.
    enum Outcome: Equatable {
        /// More frames are needed.
        case incomplete
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong
        case closing(WebSocketClosing)
    }

    /// The reason why a frame breaks the protocol, and the status code to send.
    struct Violation: Error, Equatable {
        var code: UInt16
        var reason: String
    }

    private let mostBytes, mostFragments: Int
    private var opcode: WebSocketOpcode?
    private var bytes: [UInt8] = []
    private var fragments = 0

    init(mostBytes: Int, mostFragments: Int) {
        self.mostBytes = mostBytes
        self.mostFragments = mostFragments
    }

    mutating func take(_ frame: WebSocketFrame) throws(Violation) -> Outcome {
        guard frame.reservedBits.isEmpty else { throw Self.broken("a frame has a reserved bit") }
        guard frame.maskKey == nil else { throw Self.broken("a frame from the server is masked") }
        let content = Array(buffer: frame.data)
        switch frame.opcode {
        case .text, .binary:
            guard opcode == nil else { throw Self.broken("a message begins within another one") }
            opcode = frame.opcode
            bytes = content
            fragments = 1
        case .continuation:
            guard opcode != nil else { throw Self.broken("a continuation frame has no message") }
            guard bytes.count + content.count <= mostBytes, fragments < mostFragments else {
                throw Violation(code: 1009, reason: "a message is too large")
            }
            bytes += content
            fragments += 1
        case .ping: return .ping(content)
        case .pong: return .pong
        case .connectionClose: return .closing(try Self.closing(content))
        default: throw Self.broken("a frame has an unknown opcode")
        }
        guard bytes.count <= mostBytes else { throw Violation(code: 1009, reason: "a message is too large") }
        guard frame.fin else { return .incomplete }
        let isText = opcode == .text
        defer { (opcode, bytes, fragments) = (nil, [], 0) }
        guard isText else { return .message(.binary(bytes)) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Violation(code: 1007, reason: "a text is not UTF-8")
        }
        return .message(.text(text))
    }

    private static func closing(_ content: [UInt8]) throws(Violation) -> WebSocketClosing {
        guard !content.isEmpty else { return WebSocketClosing() }
        guard content.count >= 2 else { throw broken("a close frame has an incomplete code") }
        let code = UInt16(content[0]) << 8 | UInt16(content[1])
        // RFC 6455, section 7.4, and the registry of IANA for 1012 to 1014.
        guard (1000...1003).contains(code) || (1007...1014).contains(code) || (3000...4999).contains(code) else {
            throw broken("a close frame has a code that must not be sent")
        }
        guard let reason = String(validating: content[2...], as: UTF8.self) else {
            throw Violation(code: 1007, reason: "a close reason is not UTF-8")
        }
        return WebSocketClosing(code: code, reason: reason)
    }

    private static func broken(_ reason: String) -> Violation { Violation(code: 1002, reason: reason) }
}
