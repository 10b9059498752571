import InletCore

/// Writes requests, and responses to a server's requests, as bytes of RTSP 1.0 (RFC 2326, sections 6 and 7).
package enum RTSPRequestWriter {
    /// Returns the bytes of a request. A body gets its `Content-Length`.
    ///
    /// Bytes that cannot occur in a request line are percent-encoded, so that no address can begin another header.
    package static func bytes(of request: RTSPRequest) -> [UInt8] {
        var bytes = token(request.method)
        bytes.append(UInt8(ascii: " "))
        bytes += escaped(request.uri)
        bytes += " RTSP/1.0\r\n".utf8
        append(request.headers, bodyLength: request.body.count, to: &bytes)
        bytes += request.body
        return bytes
    }

    /// Returns the bytes of a response without a body to a server's request.
    package static func bytes(ofResponse status: Int, reason: String, headers: RTSPHeaders) -> [UInt8] {
        var bytes = Array("RTSP/1.0 \(status) \(reason)\r\n".utf8)
        append(headers, bodyLength: 0, to: &bytes)
        return bytes
    }

    private static func append(_ headers: RTSPHeaders, bodyLength: Int, to bytes: inout [UInt8]) {
        for field in headers.fields {
            bytes += field.name
            bytes += ": ".utf8
            bytes += field.value
            bytes += "\r\n".utf8
        }
        if bodyLength > 0 { bytes += "Content-Length: \(bodyLength)\r\n".utf8 }
        bytes += "\r\n".utf8
    }

    private static func token(_ method: [UInt8]) -> [UInt8] {
        method.filter { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    }

    /// Returns an address with spaces and control characters percent-encoded, and everything else unchanged.
    static func escaped(_ uri: [UInt8]) -> [UInt8] {
        guard uri.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else { return uri }
        return uri.reduce(into: []) { result, byte in
            if byte <= 0x20 || byte == 0x7F {
                result += PercentEncoding.encode(byte).utf8
            } else {
                result.append(byte)
            }
        }
    }
}
