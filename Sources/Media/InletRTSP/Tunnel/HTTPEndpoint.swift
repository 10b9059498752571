import InletCore

/// The destination of the HTTP requests that begin a tunnel, and the headers common to all of them.
package struct HTTPEndpoint: Sendable {
    /// The target of the request line: a path and a query (RFC 9112, section 3.2.1).
    let target: [UInt8]
    /// The value of `Host` (RFC 9110, section 7.2).
    let host: [UInt8]
    let userAgent: String

    /// - Parameters:
    ///   - url: the address of the stream.
    ///   - path: the path and query to ask for; nil means those of the address.
    package init(_ url: RTSPURL, path: [UInt8]? = nil, userAgent: String) {
        let path = RTSPRequestWriter.escaped(path ?? url.path)
        target = path.first == UInt8(ascii: "/") ? path : [UInt8(ascii: "/")] + path
        var host = url.host
        if host.contains(UInt8(ascii: ":")) { host = [UInt8(ascii: "[")] + host + [UInt8(ascii: "]")] }
        if let port = url.explicitPort, port != url.tunnelPort(isDefault: true) { host += ":\(port)".utf8 }
        self.host = host
        self.userAgent = userAgent
    }

    /// Returns the head of a request.
    func head(_ method: String, version: String, _ headers: RTSPHeaders) -> [UInt8] {
        var all = RTSPHeaders()
        all.append("Host", host)
        all.append("User-Agent", userAgent)
        for field in headers.fields { all.append(received: field) }
        var bytes = Array("\(method) ".utf8) + target + Array(" HTTP/\(version)\r\n".utf8)
        for field in all.fields { bytes += field.name + ": ".utf8 + field.value + "\r\n".utf8 }
        return bytes + "\r\n".utf8
    }

    /// Returns the error for an answer that ends the attempt to open a tunnel.
    static func error(_ answer: RTSPResponse, carrier: String) -> InletError {
        guard answer.isHTTP else {
            return InletError(
                .unsupported,
                "The server speaks RTSP without \(carrier) at this port. Try transport=tcp, or its web port.")
        }
        let said = "\(carrier) was answered with \(answer.status)."
        switch answer.status {
        case 403: return InletError(.authenticationFailed, "\(said) The server refuses access.")
        case 404, 410: return InletError(.notFound, "\(said) The path does not exist.")
        case 300..<400:
            return InletError(.unsupported, "\(said) The server redirects to another address.")
        case 408: return InletError(.timedOut, "\(said) The server waited too long for the request.")
        case 500, 502...504:
            return InletError(.serverUnavailable, "\(said) The server failed, or does not offer it at this port.")
        default: return InletError(.unsupported, "\(said) The server may not offer it here. Try transport=tcp.")
        }
    }
}

extension RTSPURL {
    /// The port of a tunnel in HTTP or in a WebSocket: 80, or 443 with encryption, unless the address names another.
    ///
    /// These are the ports that firewalls let through, which is what tunnels are for (ONVIF Streaming Specification,
    /// `RTP/RTSP/HTTP/TCP`). libavformat and GStreamer keep RTSP's ports, and VLC takes 80.
    package var tunnelPort: UInt16 { tunnelPort(isDefault: false) }

    func tunnelPort(isDefault: Bool) -> UInt16 {
        let standard: UInt16 = isSecure ? 443 : 80
        return isDefault ? standard : explicitPort ?? standard
    }
}
