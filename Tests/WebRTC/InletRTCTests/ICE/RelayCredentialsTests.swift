import Testing

@testable import InletRTC

@Suite struct RelayCredentialsTests {
    /// Examples from RFC 4648, section 10.
    @Test(
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64IsThatOfTheStandard(_ plain: String, _ text: String) {
        #expect(Base64.text(Array(plain.utf8)) == text)
    }

    // printf '1700086400:viewer' | openssl dgst -sha1 -hmac north -binary | base64
    @Test("The name holds the expiry time, and the password matches openssl's for the name and secret")
    func credentials() {
        let credentials = RelayCredentials(secret: "north", name: "viewer", now: 1_700_000_000)
        #expect(credentials.user == "1700086400:viewer")
        #expect(credentials.password == "KjXXRZ8n2EK/ZeUUm6uiwXVLUAA=")
        #expect(RelayCredentials(secret: "north", name: "", now: 1, lifetime: .seconds(9)).user == "10")
        #expect(RelayCredentials(secret: "north", name: "", now: 1, lifetime: .seconds(Int64.max)).user == "\(Int.max)")
    }
}
