import InletCore

/// The head of an HTTP response, read line by line (RFC 9110).
struct HTTPAnswer: Sendable {
    private(set) var status = 0
    private(set) var contentType: String?
    private var statedLength: Int64?
    private var isEncoded = false
    /// The length of the body, if the server states it. It is ignored for chunked bodies (RFC 9112, 6.3).
    var length: Int64? { isEncoded ? nil : statedLength }
    /// In a partial response, the beginning of the body and the length of the whole resource.
    private(set) var part: (start: Int64, whole: Int64?)?
    private(set) var offersParts = false
    /// The value of the Location header, unresolved.
    private(set) var location: String?
    /// Whether the server requests a user name and a password by a supported method.
    private(set) var asksForCredentials = false
    /// Whether the credentials were right and only the nonce was too old (RFC 7616, 3.3).
    private(set) var isStale = false
    /// The version of the resource, as the server states it.
    private(set) var validators = HTTPValidators()
    /// Whether the head is complete, so that the body follows.
    private(set) var isWhole = false

    /// Adds a line. A status line restarts the head, because others, such as 100 and 401, may precede the final
    /// response.
    mutating func add(_ line: String) {
        let line = line.trimmed()
        if line.utf8.isEmpty {
            isWhole = status >= 200
            return
        }
        if line.hasBytePrefix("HTTP/") || line.hasBytePrefix("ICY ") {
            self = HTTPAnswer()
            let words = line.split(atByte: " ", keepsEmpty: false)
            if words.count > 1, let number = Int(words[1]) { status = number }
            return
        }
        guard !isWhole, let colon = line.firstIndex(ofByte: ":") else { return }
        let name = line[..<colon].lowercasedASCII
        let value = String(line[colon...].dropFirst().trimmed())
        switch name {
        case "content-type": contentType = value
        case "content-length": statedLength = Int64(value).flatMap { $0 >= 0 ? $0 : nil }
        case "transfer-encoding": isEncoded = true
        case "accept-ranges": offersParts = value.lowercasedASCII.isSameBytes(as: "bytes")
        case "content-range": part = Self.part(value)
        case "location": location = value
        case "etag": validators.tag = HTTPValidators.checked(value)
        case "last-modified": validators.modified = HTTPValidators.checked(value)
        case "www-authenticate":
            let challenge = value.lowercasedASCII
            if challenge.containsBytes("basic") || challenge.containsBytes("digest") { asksForCredentials = true }
            if challenge.containsBytes("stale=true") || challenge.containsBytes("stale=\"true\"") { isStale = true }
        default: break
        }
    }

    /// Parses `bytes 0-99/1000` or `bytes 0-99/*`.
    private static func part(_ value: String) -> (start: Int64, whole: Int64?)? {
        guard value.lowercasedASCII.hasBytePrefix("bytes ") else { return nil }
        let range = value.dropFirst(6)
        guard let start = Int64(range.prefix(upToByte: "-")), start >= 0,
            let slash = range.firstIndex(ofByte: "/")
        else { return nil }
        return (start, Int64(range[slash...].dropFirst()).flatMap { $0 > 0 ? $0 : nil })
    }

    /// Whether the body is the requested resource.
    var isSuccess: Bool { (200..<300).contains(status) }
    /// Whether the response is a redirect.
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
    /// Whether another part of the resource can be requested.
    var isSeekable: Bool { status == 206 ? part != nil : status == 200 && offersParts }
    /// The length of the whole resource.
    var size: Int64? { status == 206 ? part?.whole : status == 200 ? length : nil }
}

/// The version of a resource as a server states it (RFC 9110, section 8.8), for a request that is answered only if the
/// version has changed (section 13.1).
struct HTTPValidators: Sendable, Hashable {
    /// The value of the ETag header.
    var tag: String?
    /// The value of the Last-Modified header.
    var modified: String?

    /// The longest value that is sent back to the server.
    private static let longest = 1024

    /// Returns the value if it may be sent in a header of a request.
    static func checked(_ value: String) -> String? {
        let isShown = value.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        return isShown && (1...longest).contains(value.utf8.count) ? value : nil
    }

    /// The headers of the request.
    var headers: [String] {
        [tag.map { "If-None-Match: \($0)" }, modified.map { "If-Modified-Since: \($0)" }].compactMap { $0 }
    }
}
