import Testing

@testable import InletRTC

@Suite struct RelayCredentialsTests {
    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// FIPS 180-2, appendix A, RFC 3174, section 7.3, and `sha1sum` for lengths around a block.
    @Test(
        arguments: [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
            ), (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
            (String(repeating: "a", count: 55), "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
            (String(repeating: "a", count: 56), "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
            (String(repeating: "a", count: 64), "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
        ])
    func sha1IsThatOfTheStandard(_ text: String, _ digest: String) {
        #expect(Self.hex(SHA1.digest(Array(text.utf8))) == digest)
    }

    /// RFC 2202, section 3, cases 1, 2, 3 and 6.
    @Test(
        arguments: [
            ([UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8), "b617318655057264e28bc0b6fb378c8ef146be00"),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
            ),
            (
                [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
                "125d7342b9ac11cd91a39af48aa17b4f63f175d3"
            ),
            (
                [UInt8](repeating: 0xaa, count: 80),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "aa4ae5e15272d00e95705637ce8a3b55ed402112"
            ),
        ])
    func authenticationCodeIsThatOfTheStandard(_ key: [UInt8], _ message: [UInt8], _ code: String) {
        #expect(Self.hex(SHA1.authenticationCode(of: message, key: key)) == code)
    }

    /// RFC 4648, section 10.
    @Test(
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64IsThatOfTheStandard(_ plain: String, _ text: String) {
        #expect(Base64.text(Array(plain.utf8)) == text)
    }

    // printf '1700086400:viewer' | openssl dgst -sha1 -hmac north -binary | base64
    @Test("The name holds when they expire, and the password is what openssl makes of name and secret")
    func credentials() {
        let credentials = RelayCredentials(secret: "north", name: "viewer", now: 1_700_000_000)
        #expect(credentials.user == "1700086400:viewer")
        #expect(credentials.password == "KjXXRZ8n2EK/ZeUUm6uiwXVLUAA=")
        #expect(RelayCredentials(secret: "north", name: "", now: 1, lifetime: .seconds(9)).user == "10")
    }
}
