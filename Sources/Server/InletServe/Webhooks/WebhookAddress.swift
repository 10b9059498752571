package import InletCore

/// The address to which events are sent: `http://[USER:PASSWORD@]HOST[:PORT][/PATH][?QUERY]`, or `https:` for TLS.
package struct WebhookAddress: Sendable, Hashable {
    /// Whether TLS is used.
    package let isSecure: Bool
    /// The host name or numeric address, without brackets.
    package let host: String
    /// The TCP port. The default is 80, or 443 with TLS.
    package let port: Int
    /// The path and query, as in the request line; at least "/".
    private(set) var target: String
    /// The user name and password from the address, decoded; nil if the address has none.
    let user: String?

    /// The maximum number of bytes of an address.
    private static let mostBytes = 4096

    /// Reads an address.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the text is not an address. The error does not quote the
    ///   text.
    package init(_ text: String) throws(InletError) {
        guard text.utf8.count <= Self.mostBytes, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Self.error(
                "has bytes that addresses cannot have, or more than \(Self.mostBytes). Percent-encode them")
        }
        let (rest, lowercased): (Substring, String) = (text[...], text.lowercasedASCII)
        let behind: Substring
        if lowercased.hasBytePrefix("http://") {
            (isSecure, behind) = (false, rest.dropFirst(7))
        } else if lowercased.hasBytePrefix("https://") {
            (isSecure, behind) = (true, rest.dropFirst(8))
        } else {
            throw Self.error("begins with neither http:// nor https://")
        }
        guard !behind.contains(byte: "#") else { throw Self.error("has a fragment (#), which is not sent") }
        let whole = behind.prefix(whileByte: { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
        let tail = behind[whole.endIndex...]
        target = tail.hasBytePrefix("/") ? String(tail) : "/" + tail
        let sides = whole.split(atByte: "@")
        guard sides.count <= 2, let authority = sides.last else {
            throw Self.error("has a user name or password with '@' in it. Percent-encode it as %40")
        }
        user = sides.count == 2 ? PercentEncoding.decode(sides[0]) : nil
        (host, port) = try Self.place(authority, isSecure: isSecure)
    }

    private static func place(_ authority: Substring, isSecure: Bool) throws(InletError) -> (String, Int) {
        let (host, port): (Substring, Substring?)
        if authority.hasBytePrefix("[") {
            guard let end = authority.firstIndex(ofByte: "]") else { throw error("has a '[' without a ']'") }
            host = authority[authority.index(after: authority.startIndex)..<end]
            let behind = authority[authority.index(after: end)...]
            guard behind.isEmpty || behind.hasBytePrefix(":") else { throw error("has text after ']'") }
            port = behind.isEmpty ? nil : behind.dropFirst()
        } else {
            let parts = authority.split(atByte: ":")
            guard parts.count <= 2 else { throw error("has an IPv6 address without brackets") }
            (host, port) = (parts[0], parts.count == 2 ? parts[1] : nil)
        }
        guard !host.isEmpty, host.utf8.count <= 255 else { throw error("has no host") }
        guard let port, !port.isEmpty else { return (String(host), isSecure ? 443 : 80) }
        guard port.isASCIIDigits, let number = TextBytes.number(port.utf8, upTo: 65535), number > 0 else {
            throw error("has a port that is not 1 to 65535")
        }
        return (String(host), number)
    }

    /// Returns the address of a page below this one.
    func appending(_ page: String) -> WebhookAddress {
        var address = self
        address.target += (target.hasByteSuffix("/") ? "" : "/") + page
        return address
    }

    /// The host and port, as in the header `Host`.
    var authority: String {
        let name = host.contains(byte: ":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    private static func error(_ what: String) -> InletError {
        InletError(
            .invalidConfiguration, "The address \(what). Its form is https://HOST[:PORT]/PATH, or http:// without TLS.")
    }
}

extension WebhookAddress: CustomStringConvertible, CustomDebugStringConvertible {
    /// Shows only the server, because some services use the path as a secret.
    package var description: String { "\(isSecure ? "https" : "http")://\(authority)" }
    /// The same text as ``description``.
    package var debugDescription: String { description }
}
