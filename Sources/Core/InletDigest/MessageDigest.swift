internal import CAVUtil

// Unsafe: passes arrays to libavutil, which reads and writes only as many bytes as the call states.
/// A hash function that a protocol prescribes, computed by libavutil.
///
/// MD5 and SHA-1 are broken for signatures: use them only if a protocol offers nothing better.
package enum MessageDigest: Sendable {
    /// MD5 (RFC 1321), for HTTP Digest.
    case md5
    /// SHA-1 (FIPS 180-4), for WebSockets, WS-Security and TURN.
    case sha1
    /// SHA-256 (FIPS 180-4).
    case sha256

    /// Returns the digest of a message: 16 bytes of MD5, 20 of SHA-1, 32 of SHA-256.
    package func hash(_ message: [UInt8]) -> [UInt8] {
        switch self {
        case .md5:
            unsafe Self.withState(of: av_md5_size, bytes: 16) { state, digest in
                unsafe av_md5_init(state)
                unsafe av_md5_update(state, message, message.count)
                unsafe av_md5_final(state, digest)
            }
        case .sha1: Self.secureHash(message, bits: 160)
        case .sha256: Self.secureHash(message, bits: 256)
        }
    }

    /// Returns the authentication code of a message under a key, by HMAC (RFC 2104). It has as many bytes as a digest.
    package func authenticationCode(for message: [UInt8], key: [UInt8]) -> [UInt8] {
        // All three hash functions process blocks of 64 bytes.
        let key = key.count > 64 ? hash(key) : key
        var inner = [UInt8](repeating: 0x36, count: 64)
        var outer = [UInt8](repeating: 0x5c, count: 64)
        for (index, byte) in key.enumerated() {
            inner[index] ^= byte
            outer[index] ^= byte
        }
        return hash(outer + hash(inner + message))
    }

    /// Returns whether two texts or codes are the same. Takes as long for equal bytes as for different ones, so that
    /// the time of an answer does not tell an attacker how many bytes of a guess are right.
    ///
    /// - Parameter secret: the right bytes. Only their number shows in the time.
    package static func isSame(_ guess: [UInt8], _ secret: [UInt8]) -> Bool {
        var difference = guess.count ^ secret.count
        for index in secret.indices { difference |= Int(secret[index] ^ (index < guess.count ? guess[index] : 0)) }
        return difference == 0
    }

    private static func secureHash(_ message: [UInt8], bits: Int32) -> [UInt8] {
        unsafe withState(of: av_sha_size, bytes: Int(bits / 8)) { state, digest in
            unsafe av_sha_init(state, bits)
            unsafe av_sha_update(state, message, message.count)
            unsafe av_sha_final(state, digest)
        }
    }

    /// Computes a digest with libavutil's state on the stack.
    ///
    /// - Parameters:
    ///   - size: the size of the state in bytes.
    ///   - bytes: the size of the digest.
    private static func withState(
        of size: Int32, bytes: Int, _ compute: (OpaquePointer, UnsafeMutablePointer<UInt8>) -> Void
    ) -> [UInt8] {
        unsafe withUnsafeTemporaryAllocation(byteCount: Int(size), alignment: 16) { memory in
            unsafe Array(unsafeUninitializedCapacity: bytes) { digest, count in
                guard let state = memory.baseAddress, let first = digest.baseAddress else { return }
                unsafe compute(OpaquePointer(state), first)
                count = bytes
            }
        }
    }
}
