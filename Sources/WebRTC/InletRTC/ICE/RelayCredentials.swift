import FoundationEssentials
import InletDigest

/// A user name and a password for a TURN server that shares a secret with this program; they expire.
///
/// The name holds the expiry in seconds since 1970 and the user; the password is an authentication code of the name.
/// `use-auth-secret` of coturn, from draft-uberti-behave-turn-rest.
package struct RelayCredentials: Sendable, Hashable {
    /// `expiry:name`.
    package let user: String
    /// Base64 of HMAC-SHA-1. A secret until it expires.
    package let password: String

    /// - Parameters:
    ///   - secret: the secret that the TURN server is configured with.
    ///   - name: the user, as the server's log shows it; may be empty.
    ///   - now: seconds since 1970.
    ///   - lifetime: the time for which they are accepted.
    package init(secret: String, name: String, now: Int, lifetime: Duration = .seconds(86_400)) {
        let (sum, overflow) = now.addingReportingOverflow(Int(clamping: lifetime.components.seconds))
        let expiry = overflow ? Int.max : sum
        user = name.isEmpty ? "\(expiry)" : "\(expiry):\(name)"
        // TURN servers use shared secrets only with SHA-1.
        let code = MessageDigest.sha1.authenticationCode(for: Array(user.utf8), key: Array(secret.utf8))
        password = Base64.text(code)
    }
}

extension RelayCredentials: CustomStringConvertible, CustomDebugStringConvertible {
    /// The name, without the password.
    package var description: String { user }
    /// The same as ``description``.
    package var debugDescription: String { user }
}

/// Base64 with padding (RFC 4648, section 4).
enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for digit in 0..<4 {
                text.append(digit <= group.count ? digits[value >> (18 - 6 * digit) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
