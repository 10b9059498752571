package import InletCore

/// A network address, separated from its credentials.
package struct NetworkAddress: Sendable, Hashable {
    /// The scheme, in lower case.
    package let scheme: String
    /// The user name, as written or unescaped: see ``escapesCredentials``.
    package let user: String?
    /// The password, as written or unescaped: see ``escapesCredentials``.
    package let password: String?
    /// Host, port and path, as written.
    package let location: String

    /// Splits an address.
    ///
    /// - Parameter url: an address. Everything before the last `@` that can end the credentials belongs to them,
    ///   whatever characters it contains.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the host is missing.
    package init(_ url: String) throws(InletError) {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > bytes.startIndex,
            bytes[colon...].starts(with: "://".utf8)
        else {
            throw InletError(.invalidConfiguration, "A network source needs an address such as rtsp://host/path.")
        }
        scheme = url[..<colon].lowercasedASCII
        // The query after the ? belongs to neither host nor credentials.
        let behind = bytes[colon...].dropFirst(3)
        let length = (try? PluginURI(url))?.rest.utf8.dropFirst(2).count
        let rest = length.map { behind.prefix($0) } ?? behind.prefix { $0 != UInt8(ascii: "?") }
        let query = behind[rest.endIndex...]
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        let port = authority.lastIndex(of: UInt8(ascii: ":")).map { authority[$0...].dropFirst() }
        let endsInHost =
            !authority.contains(UInt8(ascii: "@"))
            && (authority.last == UInt8(ascii: "]") || port?.allSatisfy(Self.isDigit) ?? true)
        if !endsInHost, let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            let information = rest[..<at]
            let colon = information.firstIndex(of: UInt8(ascii: ":"))
            let read =
                Self.escapesCredentials(scheme) ? { PercentEncoding.decode($0) } : { (text: Substring) in String(text) }
            user = read(Substring(information[..<(colon ?? information.endIndex)]))
            password = colon.map { read(Substring(information[$0...].dropFirst())) }
            location = String(Substring(rest[at...].dropFirst())) + String(Substring(query))
        } else {
            (user, password) = (nil, nil)
            location = String(Substring(rest)) + String(Substring(query))
        }
        guard let first = location.utf8.first, first != UInt8(ascii: "/"),
            !location.utf8.contains(where: { "\n\r\0".utf8.contains($0) })
        else {
            throw InletError(.invalidConfiguration, "The address names no host.", context: .init(subject: scheme))
        }
    }

    /// The same address without credentials.
    package var withoutCredentials: String { "\(scheme)://\(location)" }

    /// Protocol, host and port: what credentials belong to.
    package struct Origin: Sendable, Hashable {
        /// The scheme, in lower case.
        package var scheme: String
        /// The host, in lower case; IPv6 without brackets.
        package var host: String
        /// The port; nil if it is not stated and the protocol has no default.
        package var port: UInt16?
    }

    /// The origin of the address; nil if the port is invalid.
    package var origin: Origin? {
        let authority = location.prefix(whileByte: { !"/?#".utf8.contains($0) })
        var host = authority.prefix(upToByte: ":")
        var rest = authority[host.endIndex...]
        if authority.hasBytePrefix("[") {
            guard let end = authority.firstIndex(ofByte: "]") else { return nil }
            host = authority[..<end].dropFirst()
            rest = authority[end...].dropFirst()
        }
        var port = Self.ports[scheme]
        if rest.hasBytePrefix(":"), rest.utf8.count > 1 {
            guard rest.dropFirst().isASCIIDigits, let number = UInt16(rest.dropFirst()), number > 0 else { return nil }
            port = number
        } else if !rest.isEmpty, !rest.isSameBytes(as: ":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        return Origin(scheme: scheme, host: host.lowercasedASCII, port: port)
    }

    /// libavformat's default ports.
    private static let ports: [String: UInt16] = [
        "ftp": 21, "http": 80, "https": 443, "mmsh": 80, "rtmp": 1935, "rtmps": 443, "rtmpt": 80, "rtsp": 554,
        "rtsps": 322,
    ]

    /// Whether the address names a port.
    package var hasPort: Bool {
        let authority = location.utf8.prefix { !"/?".utf8.contains($0) }
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")) else { return false }
        let port = authority[colon...].dropFirst()
        return !port.isEmpty && port.allSatisfy(Self.isDigit)
    }

    /// Returns the address for libavformat, with special characters of the credentials escaped.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if there is a password and no user name, or if the protocol
    ///   has no escapes and cannot carry a character.
    package func url(user: String?, password: String?) throws(InletError) -> String {
        let password = password ?? self.password
        guard let user = user ?? self.user else {
            guard password == nil else {
                throw InletError(
                    .invalidConfiguration,
                    "There is a password, but no user. Add user=NAME. If password is a parameter of the server, write query.password."
                )
            }
            return "\(scheme)://\(location)"
        }
        let secret = password.map { ":\($0)" } ?? ""
        guard !Self.escapesCredentials(scheme) else {
            let escaped = password.map { ":" + PercentEncoding.encode($0) } ?? ""
            return "\(scheme)://\(PercentEncoding.encode(user))\(escaped)@\(location)"
        }
        // libavformat keeps 99 bytes of both together.
        guard !(user + secret).utf8.contains(where: { $0 <= 0x20 || "/?#".utf8.contains($0) }),
            (user + secret).utf8.count < 100, !user.utf8.contains(UInt8(ascii: ":"))
        else {
            throw InletError(
                .invalidConfiguration,
                "libavformat cannot send this user or password by \(scheme), as one holds a space, a slash, a ? or a #, or both are longer than 98 bytes."
            )
        }
        return "\(scheme)://\(user)\(secret)@\(location)"
    }

    /// Returns an RTMP address with the stream's key appended. The key is not escaped: RTMP has no escapes, and a key
    /// may have its own query.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if libavformat would cut it off.
    package static func append(key: String, to address: String) throws(InletError) -> String {
        guard key.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw InletError(.invalidConfiguration, "The key holds a space or a control character.")
        }
        return address + (address.utf8.last == UInt8(ascii: "/") ? "" : "/") + key
    }

    /// Returns whether libavformat unescapes the credentials of a protocol. It does not for RTMP.
    private static func escapesCredentials(_ scheme: String) -> Bool { !scheme.utf8.starts(with: "rtmp".utf8) }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
