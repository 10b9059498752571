package import InletCore

/// The address of a WebSocket: `ws://HOST[:PORT][/PATH][?QUERY]`, or `wss:` for TLS (RFC 6455, section 3).
package struct WebSocketAddress: Sendable, Hashable {
    /// Whether TLS is used.
    package let isSecure: Bool
    /// The name or numeric address, without brackets.
    package let host: String
    /// The TCP port. The default is 80, or 443 with TLS.
    package let port: Int
    /// The path and the query as in the request; at least "/".
    package let target: String

    /// The maximum bytes of an address. Presigned ones have about 1500.
    package static let mostBytes = 8192

    /// Reads an address.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if it is not one, or has a user name, a fragment, or bytes
    ///   other than printable ASCII ones. The error does not quote the query, which may hold credentials.
    package init(_ text: String) throws(InletError) {
        guard text.utf8.count <= Self.mostBytes else {
            throw Self.error("has more than \(Self.mostBytes) bytes")
        }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Self.error("has bytes that are not allowed in addresses. Percent-encode them")
        }
        let rest: Substring
        let lowercased = text.lowercasedASCII
        if lowercased.hasBytePrefix("ws://") {
            (isSecure, rest) = (false, text.dropFirst(5))
        } else if lowercased.hasBytePrefix("wss://") {
            (isSecure, rest) = (true, text.dropFirst(6))
        } else {
            throw Self.error("begins with neither ws:// nor wss://")
        }
        guard !rest.contains(byte: "#") else { throw Self.error("has a fragment (#), which WebSockets do not allow") }
        let authority = rest.prefix(whileByte: { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
        let tail = rest[authority.endIndex...]
        guard !authority.contains(byte: "@") else {
            throw Self.error("has a user name, which WebSockets do not send. Give credentials another way")
        }
        target = tail.hasBytePrefix("/") ? String(tail) : "/" + tail
        let (host, port): (Substring, Substring?)
        if authority.hasBytePrefix("[") {
            guard let end = authority.firstIndex(ofByte: "]") else { throw Self.error("has a '[' without a ']'") }
            host = authority[authority.index(after: authority.startIndex)..<end]
            let behind = authority[authority.index(after: end)...]
            guard behind.isEmpty || behind.hasBytePrefix(":") else { throw Self.error("has text after ']'") }
            port = behind.isEmpty ? nil : behind.dropFirst()
        } else {
            let parts = authority.split(atByte: ":")
            guard parts.count <= 2 else { throw Self.error("has an IPv6 address without brackets") }
            host = parts[0]
            port = parts.count == 2 ? parts[1] : nil
        }
        guard !host.isEmpty, host.utf8.count <= 255 else { throw Self.error("has no host") }
        self.host = String(host)
        if let port, !port.isEmpty {
            guard port.isASCIIDigits, let number = Int(port), (1...65535).contains(number) else {
                throw Self.error("has a port that is not from 1 to 65535")
            }
            self.port = number
        } else {
            self.port = isSecure ? 443 : 80
        }
    }

    /// Host and port as the header `Host` has them.
    package var authority: String {
        let name = host.contains(byte: ":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The address without its query, for logs and errors.
    package var redacted: String {
        "\(isSecure ? "wss" : "ws")://\(authority)\(target.prefix(upToByte: "?"))"
    }

    private static func error(_ what: String) -> InletError {
        InletError(.invalidConfiguration, "The address of a WebSocket \(what). Write wss://HOST[:PORT]/PATH.")
    }
}
