import FoundationEssentials
import InletCore
import InletDigest

/// The cookie by which a browser remembers that it has presented the token. It consists of an expiry time and that
/// time's authentication code, computed with the token.
///
/// The cookie does not reveal the token. It remains valid when the server restarts, unless its key was made for one
/// run, and becomes invalid when the token changes.
struct SessionCookie: Sendable {
    /// The validity in seconds.
    static let lifetime = 86_400
    private static let codeBytes = 32

    private let key: [UInt8]
    private let port: Int

    init(token: String, port: Int) {
        key = Array(token.utf8)
        self.port = port
    }

    /// The name includes the port, because browsers send a host's cookies to all of its ports.
    var name: String { "inlet-session-\(port)" }

    /// - Parameter now: seconds since 1970.
    func value(at now: Int) -> String {
        let expiry = now + Self.lifetime
        let code = MessageDigest.sha256.authenticationCode(for: message(expiry), key: key)
        return "\(expiry)." + code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns the header that sets the cookie.
    ///
    /// - Parameters:
    ///   - isSecure: whether the browser used TLS and must send the cookie only over TLS.
    ///   - prefix: the path under which a proxy serves the pages; empty without a proxy.
    func header(at now: Int, isSecure: Bool, below prefix: String = "") -> String {
        "\(name)=\(value(at: now)); Max-Age=\(Self.lifetime); Path=\(prefix)/; HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }

    /// Returns whether a value is an authentic cookie that is still valid.
    func isGood(_ value: some Collection<UInt8>, at now: Int) -> Bool {
        let parts = value.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let expiry = TextBytes.number(parts[0], upTo: 1 << 40), expiry > now,
            expiry - now <= Self.lifetime, let code = Self.bytes(parts[1])
        else { return false }
        return MessageDigest.isSame(code, MessageDigest.sha256.authenticationCode(for: message(expiry), key: key))
    }

    private func message(_ expiry: Int) -> [UInt8] { Array("inlet-session \(port) \(expiry)".utf8) }

    private static func bytes(_ digits: some Collection<UInt8>) -> [UInt8]? {
        guard digits.count == codeBytes * 2 else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }
}
