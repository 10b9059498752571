import InletCore

/// The head of an answer of HTTP, read line by line (RFC 9110).
struct HTTPAnswer: Sendable {
    private(set) var status = 0
    private(set) var contentType: String?
    private var statedLength: Int64?
    private var isEncoded = false
    /// How long the body is, where that is said: beside chunks it does not count (RFC 9112, 6.3).
    var length: Int64? { isEncoded ? nil : statedLength }
    /// Where the body begins and how long the whole is, of an answer with a part.
    private(set) var part: (start: Int64, whole: Int64?)?
    private(set) var offersParts = false
    /// Where it leads, as it stands there.
    private(set) var location: String?
    /// Whether a user's name and password are asked for in a way that is known here.
    private(set) var asksForCredentials = false
    /// Whether they were right, and only the nonce too old (RFC 7616, 3.3).
    private(set) var isStale = false
    /// The head is whole: what follows is the body.
    private(set) var isWhole = false

    /// Takes a line in. A status line begins the head anew: an answer may be announced by others, such as 100 and 401.
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
        case "www-authenticate":
            let challenge = value.lowercasedASCII
            if challenge.containsBytes("basic") || challenge.containsBytes("digest") { asksForCredentials = true }
            if challenge.containsBytes("stale=true") || challenge.containsBytes("stale=\"true\"") { isStale = true }
        default: break
        }
    }

    /// `bytes 0-99/1000` or `bytes 0-99/*`.
    private static func part(_ value: String) -> (start: Int64, whole: Int64?)? {
        guard value.lowercasedASCII.hasBytePrefix("bytes ") else { return nil }
        let range = value.dropFirst(6)
        guard let start = Int64(range.prefix(upToByte: "-")), start >= 0,
            let slash = range.firstIndex(ofByte: "/")
        else { return nil }
        return (start, Int64(range[slash...].dropFirst()).flatMap { $0 > 0 ? $0 : nil })
    }

    /// Whether the body is what was asked for.
    var isSuccess: Bool { (200..<300).contains(status) }
    /// Whether it leads elsewhere.
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }
    /// Whether another part of the whole can be asked for.
    var isSeekable: Bool { status == 206 ? part != nil : status == 200 && offersParts }
    /// How long the whole is.
    var size: Int64? { status == 206 ? part?.whole : status == 200 ? length : nil }
}
