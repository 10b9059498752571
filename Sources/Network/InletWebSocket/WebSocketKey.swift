import FoundationEssentials
import InletDigest

/// The key of an opening and the server's answer to it (RFC 6455, section 4.1), which prove that the server supports
/// WebSockets.
enum WebSocketKey {
    /// The text that the server appends to the key (RFC 6455, section 1.3).
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// Returns a new key: 16 random bytes in base64.
    static func make() -> String {
        Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
    }

    /// Returns the answer to a key.
    static func answer(to key: String) -> String {
        Data(MessageDigest.sha1.hash(Array((key + suffix).utf8))).base64EncodedString()
    }
}
