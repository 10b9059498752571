import InletCore
internal import InletDigest

/// Credentials in a SOAP header, with a digest instead of the password (OASIS WSS UsernameToken Profile 1.0,
/// section 3.1; ONVIF Core Specification, section "User-based access control").
package enum UsernameToken {
    /// Returns the header's element `Security`.
    ///
    /// - Parameters:
    ///   - nonce: random bytes that no other request uses.
    ///   - time: the device's time of day in seconds since 1970: devices refuse tokens that are too old.
    package static func element(_ credentials: RTSPCredentials, nonce: [UInt8], time: Int64) -> [UInt8] {
        let created = UTCTime(secondsSince1970: time).text
        let digest = Base64Text.encode(digest(of: credentials.password, nonce: nonce, created: created))
        let extensions = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-"
        var text = Array(
            """
            <w:Security s:mustUnderstand="1" xmlns:w="\(extensions)wssecurity-secext-1.0.xsd" \
            xmlns:u="\(extensions)wssecurity-utility-1.0.xsd"><w:UsernameToken><w:Username>
            """.utf8)
        text += XMLReader.escaped(credentials.user)
        text += #"</w:Username><w:Password Type="\#(extensions)username-token-profile-1.0#PasswordDigest">"#.utf8
        text += digest
        text += #"</w:Password><w:Nonce EncodingType="\#(extensions)soap-message-security-1.0#Base64Binary">"#.utf8
        text += Base64Text.encode(nonce)
        text += "</w:Nonce><u:Created>".utf8 + created + "</u:Created></w:UsernameToken></w:Security>".utf8
        return text
    }

    /// Returns the SHA-1 of the nonce, the time and the password.
    package static func digest(of password: [UInt8], nonce: [UInt8], created: [UInt8]) -> [UInt8] {
        MessageDigest.sha1.hash(nonce + created + password)
    }
}
