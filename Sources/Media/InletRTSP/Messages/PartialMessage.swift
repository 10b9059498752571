import InletCore

/// The part of a message that has arrived.
struct PartialMessage: Sendable {
    /// The first line of a message.
    enum Start: Sendable {
        case response(status: Int, reason: [UInt8], isHTTP: Bool)
        case request(method: [UInt8], uri: [UInt8])
    }

    /// The meaning of a line.
    enum LineResult {
        /// More lines follow.
        case more
        /// It was the empty line that ends the head.
        case end
        /// The first line is not that of a message.
        case noMessage
        /// There are more headers than allowed.
        case tooManyHeaders
    }

    var start: Start?
    var headers = RTSPHeaders()
    /// The line that has not ended yet.
    var line: [UInt8] = []
    /// The bytes of the head so far.
    var headLength = 0
    var body: [UInt8] = []

    /// The finished message.
    var event: RTSPParser.Event? {
        switch start {
        case .response(let status, let reason, let isHTTP):
            .response(RTSPResponse(status: status, reason: reason, headers: headers, body: body, isHTTP: isHTTP))
        case .request(let method, let uri):
            .request(RTSPRequest(method: method, uri: uri, headers: headers, body: body))
        case nil: nil
        }
    }

    /// Takes the line that has just ended.
    mutating func finishLine(mostHeaders: Int) -> LineResult {
        var text = line[...]
        defer { line.removeAll(keepingCapacity: true) }
        while text.last == UInt8(ascii: "\r") { text = text.dropLast() }
        guard start != nil else {
            start = Self.start(of: text)
            return start == nil ? .noMessage : .more
        }
        if text.isEmpty { return .end }
        if text.first == UInt8(ascii: " ") || text.first == UInt8(ascii: "\t") {
            headers.continueLast(with: TextBytes.trimmed(text))
            return .more
        }
        guard headers.fields.count < mostHeaders else { return .tooManyHeaders }
        // A line without a colon has no meaning, and does no harm.
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return .more }
        headers.append(
            received: RTSPHeaders.Field(
                name: Array(TextBytes.trimmed(text[..<colon])), value: Array(TextBytes.trimmed(text[(colon + 1)...]))))
        return .more
    }

    private static func start(of line: ArraySlice<UInt8>) -> Start? {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard let first = parts.first, parts.count >= 2 else { return nil }
        let isHTTP = first.starts(with: "HTTP/".utf8)
        if isHTTP || first.starts(with: "RTSP/".utf8) {
            guard let status = TextBytes.number(parts[1], upTo: 999), status >= 100 else { return nil }
            return .response(
                status: status, reason: parts.count == 3 ? Array(TextBytes.trimmed(parts[2])) : [], isHTTP: isHTTP)
        }
        guard parts.count == 3, TextBytes.trimmed(parts[2]).starts(with: "RTSP/".utf8) else { return nil }
        return .request(method: Array(first), uri: Array(parts[1]))
    }
}
