package import InletCore

/// An address of RTSP, separated from its credentials. All text is kept as the bytes that were written.
package struct RTSPURL: Sendable, Equatable {
    /// Whether the connection is encrypted: the scheme is `rtsps`.
    package var isSecure: Bool
    /// The host; an IPv6 address is without brackets.
    package var host: [UInt8]
    /// The name of the interface by which a link-local IPv6 host is reached (RFC 6874); empty if none is stated. It has
    /// a meaning on this machine only, so no request carries it.
    package var zone: [UInt8]
    /// The port; nil means the default port.
    package var explicitPort: UInt16?
    /// The path and the query as written. Empty, or begins with `/` or `?`.
    package var path: [UInt8]
    package var credentials: RTSPCredentials?

    /// The port to connect to: 554, or 322 with encryption, unless the address names another (RFC 7826, section 22.14).
    package var port: UInt16 { explicitPort ?? (isSecure ? 322 : 554) }

    /// The host as the system looks it up: with `%` and the zone, if there is one.
    package var hostWithZone: [UInt8] { zone.isEmpty ? host : host + [UInt8(ascii: "%")] + zone }

    /// The address without credentials, as requests carry it.
    package var requestURI: [UInt8] {
        var text = Array((isSecure ? "rtsps://" : "rtsp://").utf8)
        if host.contains(UInt8(ascii: ":")) {
            text.append(UInt8(ascii: "["))
            text += host
            text.append(UInt8(ascii: "]"))
        } else {
            text += host
        }
        if let explicitPort { text += ":\(explicitPort)".utf8 }
        return text + path
    }

    /// The address without credentials, as this machine reads it again: with the zone, if there is one.
    package var text: String {
        guard !zone.isEmpty else { return String(decoding: requestURI, as: UTF8.self) }
        var zoned = self
        (zoned.host, zoned.zone) = (host + Array("%25".utf8) + zone, [])
        return String(decoding: zoned.requestURI, as: UTF8.self)
    }

    /// Whether both addresses lead to the same server: scheme, host and port.
    package func hasSameOrigin(as other: RTSPURL) -> Bool {
        isSecure == other.isSecure && port == other.port
            && TextBytes.lowercased(host) == TextBytes.lowercased(other.host)
    }

    /// Returns the address with another path and query on the same server.
    func with(path: [UInt8]) -> RTSPURL {
        var url = self
        url.path = RTSPRequestWriter.escaped(path)
        return url
    }

    /// Reads an address.
    ///
    /// These mistakes of cameras and users are repaired: `rtsp://rtsp://host`, a missing scheme, an IPv6 address
    /// without brackets, and special characters within the credentials, which end at the last `@` that can end them.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if there is no host, the port is invalid or the scheme is
    ///   neither `rtsp` nor `rtsps`.
    package init(_ text: [UInt8]) throws(InletError) {
        guard let url = RTSPURL(lenient: text) else {
            throw InletError(
                .invalidConfiguration, "An RTSP source needs an address such as rtsp://host/path or rtsps://host/path.")
        }
        self = url
    }

    /// Makes an address of its parts.
    init(
        isSecure: Bool, host: [UInt8], zone: [UInt8], explicitPort: UInt16?, path: [UInt8],
        credentials: RTSPCredentials?
    ) {
        self.isSecure = isSecure
        self.host = host
        self.zone = zone
        self.explicitPort = explicitPort
        self.path = path
        self.credentials = credentials
    }
}

extension RTSPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address as a log may show it: without credentials, and the values of its query are hidden.
    package var description: String { Redaction.redact(uri: String(decoding: requestURI, as: UTF8.self)) }

    /// The same as ``description``.
    package var debugDescription: String { description }

    /// A mirror without children, since a path may hold a password.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
