import InletCore

/// The request that opens a WebSocket, and the check of its response (RFC 6455, section 4).
///
/// A value without input or output: the caller passes it bytes until it returns the meaning of the response.
struct WebSocketHandshake {
    /// The meaning of the bytes so far.
    enum Progress {
        case incomplete
        /// The connection is a WebSocket from here on.
        case opened(subprotocol: String?, rest: [UInt8])
    }

    /// The maximum bytes of a response's head, and the bytes of a refusal's body that are kept.
    static let (mostHeadBytes, mostBodyBytes) = (16_384, 4096)

    /// The complete request.
    let request: String
    private let expectedAccept: String
    private let offered: [String]
    private var received: [UInt8] = []
    private var refusal: HTTPRefusal?
    /// Whether the response is a refusal, whose body may be missing.
    var isRefused: Bool { refusal != nil }

    init(_ configuration: WebSocketConfiguration, key: String) {
        var lines = [
            "GET \(configuration.address.target) HTTP/1.1", "Host: \(configuration.address.authority)",
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
        ]
        if !configuration.subprotocols.isEmpty {
            lines.append("Sec-WebSocket-Protocol: \(configuration.subprotocols.joined(separator: ", "))")
        }
        lines += configuration.headers.map { "\($0.name): \($0.value)" }
        request = lines.map { $0 + "\r\n" }.joined() + "\r\n"
        offered = configuration.subprotocols
        expectedAccept = WebSocketKey.answer(to: key)
    }

    /// Whether the text is a token (RFC 9110, section 5.6.2).
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// Takes bytes of the response.
    ///
    /// - Throws: ``InletError`` if the response does not open a WebSocket, or is a refusal whose body is complete.
    mutating func take(_ bytes: some Sequence<UInt8>) throws(InletError) -> Progress {
        received.append(contentsOf: bytes)
        if refusal != nil { return try refuse() }
        guard let end = Self.headEnd(received) else {
            guard received.count <= Self.mostHeadBytes else {
                throw Self.malformed("has a head of more than \(Self.mostHeadBytes) bytes")
            }
            return .incomplete
        }
        guard end <= Self.mostHeadBytes, let head = String(validating: received[..<end], as: UTF8.self) else {
            throw Self.malformed("is not text")
        }
        let rest = Array(received[(end + 4)...])
        var lines = Self.lines(head)[...]
        let status = try Self.status(lines.popFirst() ?? "")
        var headers: [(name: String, value: String)] = []
        for line in lines {
            guard let colon = line.firstIndex(ofByte: ":") else { throw Self.malformed("has a line without a colon") }
            headers.append(
                (line[..<colon].lowercasedASCII, String(line[line.index(after: colon)...].trimmed())))
        }
        func values(_ name: String) -> [String] { headers.filter { $0.name.isSameBytes(as: name) }.map(\.value) }
        guard status == 101 else {
            refusal = HTTPRefusal(
                status: status, retryAfter: values("retry-after").first,
                bodyLength: values("content-length").first.flatMap { $0.isASCIIDigits ? Int($0) : nil },
                location: values("location").first)
            received = rest
            return try refuse()
        }
        guard values("upgrade").contains(where: { $0.lowercasedASCII.isSameBytes(as: "websocket") }),
            values("connection").contains(where: { value in
                value.split(atByte: ",").contains { $0.trimmed().lowercasedASCII.isSameBytes(as: "upgrade") }
            })
        else {
            throw Self.malformed("does not change to a WebSocket")
        }
        guard let accept = values("sec-websocket-accept").first, accept.isSameBytes(as: expectedAccept) else {
            throw Self.malformed("has a wrong Sec-WebSocket-Accept")
        }
        guard values("sec-websocket-extensions").isEmpty else { throw Self.malformed("requires an extension") }
        let chosen = values("sec-websocket-protocol")
        guard chosen.count <= 1, chosen.allSatisfy({ one in offered.contains { $0.isSameBytes(as: one) } }) else {
            throw Self.malformed("chooses a subprotocol that was not offered")
        }
        return .opened(subprotocol: chosen.first, rest: rest)
    }

    /// Returns the error to report when the connection ends or the deadline passes.
    func ended(_ otherwise: InletError) -> InletError { refusal?.error(body: received) ?? otherwise }

    /// Reports a refusal as soon as enough of its body has arrived.
    private mutating func refuse() throws(InletError) -> Progress {
        guard let refusal else { return .incomplete }
        let wanted = min(refusal.bodyLength ?? Self.mostBodyBytes, Self.mostBodyBytes)
        guard received.count >= wanted else { return .incomplete }
        throw refusal.error(body: received)
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...(bytes.count - 4)).first { bytes[$0...].starts(with: [13, 10, 13, 10]) }
    }

    private static func lines(_ head: String) -> [Substring] {
        head.split(atByte: "\n").map { $0.trimmed { $0 == UInt8(ascii: "\r") } }
    }

    private static func status(_ line: Substring) throws(InletError) -> Int {
        let words = line.split(atByte: " ", limit: 2)
        guard words.count >= 2, words[0].hasBytePrefix("HTTP/1."), words[1].utf8.count == 3, words[1].isASCIIDigits,
            let status = Int(words[1])
        else {
            throw malformed("is not HTTP. Check the port")
        }
        return status
    }

    static func malformed(_ what: String) -> InletError {
        InletError(.malformedData, "The server's answer to the opening of a WebSocket \(what).")
    }
}
