internal import InletDigest

/// Replaces secrets by text of the same length, the same secret always by the same text.
///
/// The text is made with a random key that is never written, so that the secret cannot be guessed from it. Equal
/// numbers or nonces, which matter to a session, remain recognizable as equal.
package struct SecretMask: Sendable {
    private let key: [UInt8]
    /// The characters of masks; they have no special meaning in RTSP, SDP and addresses.
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// - Parameter key: the key, for tests. The default, nil, is a random one.
    package init(key: [UInt8]? = nil) { self.key = key ?? (0..<32).map { _ in .random(in: .min ... .max) } }

    /// Returns the text that replaces a secret.
    package func mask(_ secret: some Sequence<UInt8>) -> [UInt8] {
        let secret = Array(secret)
        // A long secret is read once, however long its mask is.
        let digest = MessageDigest.sha256.authenticationCode(for: secret, key: key)
        var result: [UInt8] = []
        result.reserveCapacity(secret.count)
        var block: UInt32 = 0
        while result.count < secret.count {
            let number = (0..<4).map { UInt8(truncatingIfNeeded: block >> UInt32(8 * $0)) }
            for byte in MessageDigest.sha256.authenticationCode(for: number + digest, key: key)
            where result.count < secret.count {
                result.append(Self.alphabet[Int(byte & 31)])
            }
            block &+= 1
        }
        return result
    }
}

extension SecretMask: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A text without the key.
    package var description: String { "mask of secrets" }

    /// The same as ``description``.
    package var debugDescription: String { description }

    /// A mirror without children, since `dump` would show the key.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
