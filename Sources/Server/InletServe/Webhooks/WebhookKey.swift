import FoundationEssentials
package import InletCore
import InletDigest

/// The key for signing requests (Standard Webhooks 1.0, "Signature scheme"): HMAC-SHA256 of the identifier, the time
/// and the body, joined by full stops.
package struct WebhookKey: Sendable, Hashable {
    private let bytes: [UInt8]

    /// The prefix of a key in base64.
    private static let mark = "whsec_"
    /// The fewest bytes of a key. A key of this length cannot be guessed.
    private static let fewestBytes = 16

    /// Makes a key from a secret: from the base64 text after `whsec_`, or else from the bytes of the text itself.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the secret is too short, or not valid base64.
    package init(secret: String) throws(InletError) {
        if secret.hasBytePrefix(Self.mark) {
            guard let data = Data(base64Encoded: String(secret.dropFirst(Self.mark.utf8.count))) else {
                throw InletError(.invalidConfiguration, "The secret has text other than base64 after whsec_.")
            }
            bytes = Array(data)
        } else {
            bytes = Array(secret.utf8)
        }
        guard bytes.count >= Self.fewestBytes else {
            throw InletError(
                .invalidConfiguration,
                "The secret has fewer than \(Self.fewestBytes) bytes. Create one with 'openssl rand -hex 32'.")
        }
    }

    /// Returns the value of the header `webhook-signature`.
    ///
    /// - Parameter time: seconds since 1970.
    func signature(of body: String, identifier: String, time: Int64) -> String {
        let code = MessageDigest.sha256.authenticationCode(
            for: Array("\(identifier).\(time).\(body)".utf8), key: bytes)
        return "v1," + Data(code).base64EncodedString()
    }
}

extension WebhookKey: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String { "key" }
    package var debugDescription: String { description }
}
