import InletCore

/// A request, either one that this client sends or one that arrived from a server.
package struct RTSPRequest: Sendable, Equatable {
    /// The method as written, such as `OPTIONS`.
    package var method: [UInt8]
    /// The address as written: a URL or `*`.
    package var uri: [UInt8]
    package var headers: RTSPHeaders
    package var body: [UInt8]

    package init(method: [UInt8], uri: [UInt8], headers: RTSPHeaders = RTSPHeaders(), body: [UInt8] = []) {
        self.method = method
        self.uri = uri
        self.headers = headers
        self.body = body
    }

    /// The method, if it is one that this client knows.
    package var knownMethod: RTSPMethod? { RTSPMethod(rawValue: String(decoding: method, as: UTF8.self)) }
}

extension RTSPRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The request as a log may show it, without its body and without secrets.
    package var description: String {
        let method = String(decoding: method, as: UTF8.self).sanitized(limit: 64)
        return "\(method) \(Redaction.redact(uri: String(decoding: uri, as: UTF8.self))) [\(headers)]"
    }

    /// The same as ``description``.
    package var debugDescription: String { description }
}
