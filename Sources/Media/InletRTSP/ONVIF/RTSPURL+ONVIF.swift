package import InletCore

/// Addresses of ONVIF services: HTTP URLs, which have the same parts as RTSP URLs. Their default port is that of a
/// tunnel: 80, or 443 with encryption.
extension RTSPURL {
    /// Reads the address of a service that the user gave.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if it is not an HTTP address, or holds credentials.
    package init(service text: [UInt8]) throws(InletError) {
        guard let url = RTSPURL(http: text) else {
            throw InletError(
                .invalidConfiguration,
                "onvif needs the address of a device service, such as http://host/onvif/device_service.")
        }
        guard url.credentials == nil else {
            throw InletError(
                .invalidConfiguration,
                "The address of onvif holds credentials. Write user= and password=, or both in the stream's address.")
        }
        self = url
    }

    /// Reads the user's name for a device: a host with or without a port, or the address of its device service.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if it is neither, or holds credentials.
    package init(device text: [UInt8]) throws(InletError) {
        if text.contains(UInt8(ascii: "/")) {
            try self.init(service: text)
            return
        }
        guard var url = RTSPURL(lenient: text), url.path.isEmpty, url.credentials == nil else {
            throw InletError(
                .invalidConfiguration,
                "A device is named by its host, host:port, or the address of its device service, such as "
                    + "http://host/onvif/device_service.")
        }
        url.path = Self.deviceService
        self = url
    }

    /// The path of the device service (ONVIF Core Specification, section "Device service").
    package static let deviceService = Array("/onvif/device_service".utf8)

    /// The address of a service as people may see it: its scheme is `http` or `https`, and the values of its query are
    /// hidden.
    package var serviceText: String { Redaction.redact(uri: String(decoding: httpText, as: UTF8.self)) }

    /// The address of a service as it is, `http` or `https`, without credentials.
    var httpText: [UInt8] {
        Array((isSecure ? "https" : "http").utf8) + requestURI.dropFirst((isSecure ? "rtsps" : "rtsp").utf8.count)
    }

    /// Reads an HTTP or HTTPS address; nil if the text is not one.
    init?(http text: [UInt8]) {
        let text = TextBytes.trimmed(text)
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = text[colon...]
        if TextBytes.isSame(text[..<colon], ignoringCase: "http") {
            self.init(lenient: Array("rtsp".utf8 + rest))
        } else if TextBytes.isSame(text[..<colon], ignoringCase: "https") {
            self.init(lenient: Array("rtsps".utf8 + rest))
        } else {
            return nil
        }
    }

    /// Returns the address of another service of the device, as the device states it.
    ///
    /// A device behind a router states an unreachable host, so only the path and the query of another host's address
    /// are used. So a device can direct the client neither from HTTPS to HTTP nor to another host.
    func service(at text: [UInt8]) -> RTSPURL? {
        let text = Array(TextBytes.trimmed(text))
        if text.first == UInt8(ascii: "/") { return with(path: text) }
        guard !text.elementsEqual("http://www.w3.org/2005/08/addressing/anonymous".utf8) else { return nil }
        guard var stated = RTSPURL(http: text) else { return Self.pathWithoutHost(text).map(with(path:)) }
        stated.credentials = nil
        guard isSameHost(as: stated), stated.isSecure || !isSecure else { return with(path: stated.path) }
        // A device does not know the names of this machine's interfaces.
        stated.zone = zone
        return stated
    }

    /// Returns the path of an address of HTTP without a host, such as `http:///events` or `http://:8080/events`; nil
    /// for anything else.
    private static func pathWithoutHost(_ text: [UInt8]) -> [UInt8]? {
        for scheme in ["http://", "https://"] as [StaticString] {
            let rest = text.dropFirst(scheme.utf8CodeUnitCount)
            guard TextBytes.isSame(text.prefix(scheme.utf8CodeUnitCount), ignoringCase: scheme),
                let path = rest.firstIndex(of: UInt8(ascii: "/")),
                rest[..<path].allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ":") })
            else { continue }
            return Array(rest[path...])
        }
        return nil
    }

    /// Returns the address of a stream of the device, as the device states it; nil if it is not one of RTSP.
    ///
    /// As with ``service(at:)``, the host is always that of the device: so a device cannot direct the user's
    /// credentials to another host, and the address is also correct behind a router. Credentials in the device's
    /// address are discarded.
    func stream(at text: [UInt8]) -> RTSPURL? {
        let text = Array(TextBytes.trimmed(text))
        guard Self.isAbsolute(text), var stated = RTSPURL(lenient: text) else { return nil }
        (stated.host, stated.zone, stated.credentials) = (host, zone, nil)
        return stated
    }

    /// Returns the target of a redirect; nil if that is not an HTTP address.
    func serviceRedirected(to location: [UInt8]) -> RTSPURL? {
        let text = Array(TextBytes.trimmed(location))
        if text.first == UInt8(ascii: "/"), !text.starts(with: "//".utf8) { return with(path: text) }
        guard var url = RTSPURL(http: text) else { return nil }
        url.credentials = nil
        url.zone = url.isLinkLocal ? zone : []
        return url
    }

    /// Whether two addresses have the same host, in the same spelling but for upper and lower case.
    package func isSameHost(as other: RTSPURL) -> Bool {
        TextBytes.lowercased(host) == TextBytes.lowercased(other.host)
    }

    /// Whether the credentials for this service may be sent to another address: the same host, port and protocol, or
    /// the same host with encryption.
    func sharesCredentials(with other: RTSPURL) -> Bool {
        guard TextBytes.lowercased(host) == TextBytes.lowercased(other.host) else { return false }
        return isSecure == other.isSecure ? tunnelPort == other.tunnelPort : other.isSecure
    }

    /// The degree to which the address of a profile's stream matches this one, which the user gave. Users may leave out
    /// parameters that devices append to the query.
    ///
    /// - Returns: 2 for the same path and query, 1 for the same path and a query that has all parameters of this one, 0
    ///   for another stream.
    func fitness(ofProfileAt other: RTSPURL) -> Int {
        let (mine, theirs) = (Self.parts(path), Self.parts(other.path))
        guard mine.path == theirs.path else { return 0 }
        if mine.query == theirs.query { return 2 }
        return mine.query.allSatisfy { theirs.query.contains($0) } ? 1 : 0
    }

    private static func parts(_ path: [UInt8]) -> (path: [UInt8], query: [[UInt8]]) {
        let parts = path.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var plain = parts.first ?? []
        while plain.last == UInt8(ascii: "/") { plain = plain.dropLast() }
        let query = parts.count > 1 ? parts[1].split(separator: UInt8(ascii: "&")).prefix(64).map { Array($0) } : []
        return (Array(plain), query)
    }
}
