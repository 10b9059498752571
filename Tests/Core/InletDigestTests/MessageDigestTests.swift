import Foundation
import InletDigest
import ReferenceTools
import Testing

/// Digests and authentication codes by the test vectors of their standards, and by Python's library for messages of
/// every length around a block.
@Suite(.blocking) struct MessageDigestTests {
    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("Digests of short messages are those of the standards")
    func standards() {
        #expect(Self.hexadecimal(MessageDigest.md5.hash([])) == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(Self.hexadecimal(MessageDigest.md5.hash(Array("abc".utf8))) == "900150983cd24fb0d6963f7d28e17f72")
        #expect(
            Self.hexadecimal(MessageDigest.sha1.hash(Array("abc".utf8))) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            Self.hexadecimal(MessageDigest.sha256.hash(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test("Authentication codes are those of RFC 2202 and RFC 4231, also with keys that are longer than a block")
    func authenticationCodes() {
        let key = Array("Jefe".utf8)
        let message = Array("what do ya want for nothing?".utf8)
        let sums: [(MessageDigest, String)] = [
            (.md5, "750c783e6ab0b503eaa86e310a5db738"), (.sha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
            (.sha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        ]
        for (digest, sum) in sums {
            #expect(Self.hexadecimal(digest.authenticationCode(for: message, key: key)) == sum)
        }
        let long = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        let longKey = [UInt8](repeating: 0xaa, count: 131)
        #expect(
            Self.hexadecimal(MessageDigest.sha256.authenticationCode(for: long, key: longKey))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test("Messages and keys of 0 to 300 bytes have the digests and codes that Python's hashlib and hmac compute")
    func lengths() throws {
        let program = """
            import hashlib, hmac
            for length in range(301):
                message = bytes(range(256)) * 2
                message, key = message[:length], message[-length:] if length else b""
                for name in "md5", "sha1", "sha256":
                    print(hashlib.new(name, message).hexdigest(), hmac.new(key, message, name).hexdigest())
            """
        let all = (0..<512).map { UInt8(truncatingIfNeeded: $0) }
        var lines: [String] = []
        for length in 0...300 {
            let (message, key) = (Array(all.prefix(length)), Array(all.suffix(length)))
            for digest in [MessageDigest.md5, .sha1, .sha256] {
                lines.append(
                    Self.hexadecimal(digest.hash(message)) + " "
                        + Self.hexadecimal(digest.authenticationCode(for: message, key: key)))
            }
        }
        let output = String(
            decoding: try ReferenceCommand.run("/usr/bin/python3", ["-c", program]), as: UTF8.self)
        #expect(output.split(separator: "\n").map(String.init) == lines)
    }

    @Test("Comparison finds a difference in any byte and in length")
    func comparison() {
        let secret: [UInt8] = [0, 1, 128, 255]
        #expect(MessageDigest.isSame(secret, secret))
        #expect(MessageDigest.isSame([], []))
        for index in secret.indices {
            for bit in 0..<8 {
                var guess = secret
                guess[index] ^= 1 << UInt8(bit)
                #expect(!MessageDigest.isSame(guess, secret))
            }
        }
        for guess in [[], [0], [0, 1, 128], [0, 1, 128, 255, 0]] as [[UInt8]] {
            #expect(!MessageDigest.isSame(guess, secret))
        }
    }
}
