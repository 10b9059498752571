import InletCore

/// A response to the opening of a WebSocket other than 101.
package struct HTTPRefusal: Error, Sendable, Hashable {
    /// The status code.
    package var status: Int
    /// The value of the header `Retry-After`.
    package var retryAfter: String?
    /// The bytes of the body as far as they arrived, at most 4096.
    package var body: [UInt8] = []
    var bodyLength: Int?
    var location: String?

    init(status: Int, retryAfter: String? = nil, bodyLength: Int? = nil, location: String? = nil) {
        self.status = status
        self.retryAfter = retryAfter
        self.bodyLength = bodyLength
        self.location = location
    }

    /// Returns the error for the refusal. Its cause is the refusal, its native code the status.
    func error(body: [UInt8]) -> InletError {
        var refusal = self
        refusal.body = Array(body.prefix(WebSocketHandshake.mostBodyBytes))
        let (code, message): (InletError.Code, String) =
            switch status {
            case 401: (.authenticationFailed, "The server requires or rejects credentials for the WebSocket (401).")
            case 403:
                (.authenticationFailed, "The server refuses access to the WebSocket (403). Check the permissions.")
            case 404, 410: (.notFound, "The server has no WebSocket at this path (\(status)). Check the address.")
            case 429: (.serverUnavailable, "The server received too many requests (429). Try again later.")
            case 300..<400:
                (
                    .addressRefused,
                    "The server redirects the WebSocket (\(status))\(location.map { " to \($0)" } ?? ""). "
                        + "Use that address if it is the right one."
                )
            case 500...: (.serverUnavailable, "The server is temporarily unavailable (\(status)). Try again later.")
            case 200..<300, 426:
                (.unsupported, "The server has no WebSocket at this path: it answers \(status). Check the address.")
            default: (.unsupported, "The server refuses the WebSocket (\(status)).")
            }
        // An HTML page is of no use in a log.
        let text = String(validating: refusal.body, as: UTF8.self).map { String($0.trimmed()) } ?? ""
        let isTold = !text.isEmpty && !text.hasBytePrefix("<") && text.utf8.count <= 300
        var error = InletError(
            code, isTold ? "\(message) Its reason: \(text)" : message, cause: refusal,
            context: .init(operation: "WebSocket", nativeCode: Int32(status)))
        if let retryAfter, retryAfter.isASCIIDigits, let seconds = Int64(retryAfter) {
            error.retryAfter = .seconds(min(seconds, 3600))
        }
        return error
    }
}
