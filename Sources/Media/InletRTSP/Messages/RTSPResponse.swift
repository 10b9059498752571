import InletCore

/// A response of a server.
package struct RTSPResponse: Sendable, Equatable {
    /// The status code, 100 to 999.
    package var status: Int
    /// The reason phrase as written; it may be empty.
    package var reason: [UInt8]
    package var headers: RTSPHeaders
    package var body: [UInt8]
    /// Whether the status line begins with HTTP: what listens at the port is a web server.
    package var isHTTP: Bool

    package init(
        status: Int, reason: [UInt8] = [], headers: RTSPHeaders = RTSPHeaders(), body: [UInt8] = [],
        isHTTP: Bool = false
    ) {
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
        self.isHTTP = isHTTP
    }

    /// Whether the request succeeded.
    package var isSuccess: Bool { (200..<300).contains(status) }
}

extension RTSPResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The response as a log may show it, without its body and without secrets.
    package var description: String { "\(statusText) [\(headers)]" }

    /// The same as ``description``.
    package var debugDescription: String { description }

    /// The status and the reason phrase, such as `404 Not Found`.
    var statusText: String {
        guard !reason.isEmpty else { return "\(status)" }
        return "\(status) \(Redaction.redact(String(decoding: reason, as: UTF8.self)).sanitized(limit: 128))"
    }
}
