import InletCore

/// The headers of a message in the order of their arrival. Names are compared without regard to the case of A to Z,
/// and several values of one name are kept.
package struct RTSPHeaders: Sendable, Equatable {
    /// A header's name and value, both without blanks around them.
    package struct Field: Sendable, Equatable {
        package var name: [UInt8]
        package var value: [UInt8]
    }

    /// The headers in the order of their arrival.
    package private(set) var fields: [Field] = []

    package init() {}

    /// Makes headers from literal text.
    package init(_ fields: [(name: String, value: String)]) {
        for field in fields { append(field.name, field.value) }
    }

    /// Returns the value of the first header with this name.
    package func first(_ name: StaticString) -> [UInt8]? {
        fields.first { TextBytes.isSame($0.name, ignoringCase: name) }?.value
    }

    /// Returns the values of all headers with this name.
    package func values(_ name: StaticString) -> [[UInt8]] {
        fields.filter { TextBytes.isSame($0.name, ignoringCase: name) }.map(\.value)
    }

    /// Adds a header. Line ends and NUL, which could begin another header, become spaces.
    package mutating func append(_ name: String, _ value: some Sequence<UInt8>) {
        fields.append(Field(name: Self.oneLine(name.utf8), value: Self.oneLine(value)))
    }

    /// Adds a header with a text as its value.
    package mutating func append(_ name: String, _ value: String) { append(name, value.utf8) }

    /// Adds a header as it arrived.
    mutating func append(received field: Field) { fields.append(field) }

    /// Adds a continuation line to the last header (RFC 2616, section 2.2). It is discarded if no header precedes it.
    mutating func continueLast(with text: some Sequence<UInt8>) {
        guard !fields.isEmpty else { return }
        fields[fields.count - 1].value += [UInt8(ascii: " ")] + text
    }

    private static func oneLine(_ text: some Sequence<UInt8>) -> [UInt8] {
        text.map { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") || $0 == 0 ? UInt8(ascii: " ") : $0 }
    }

    /// The number that pairs a response with its request (RFC 2326, section 12.17); nil if it is missing or no number.
    package var cSeq: UInt32? {
        first("CSeq").flatMap { TextBytes.number(TextBytes.trimmed($0)) }.map { UInt32(clamping: $0) }
    }

    /// The size of the body; 0 if it is missing or no number. A number beyond 32 bits counts as the largest one, so
    /// that it violates the limit rather than being ignored.
    var contentLength: Int {
        guard let value = first("Content-Length") else { return 0 }
        let digits = TextBytes.trimmed(value)
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return 0 }
        return TextBytes.number(digits) ?? Int(UInt32.max)
    }
}

extension RTSPHeaders: CustomStringConvertible, CustomDebugStringConvertible {
    /// Names of headers whose values are secrets, or allow to compute or to take over something secret.
    private static let secretNames: [StaticString] = [
        "Authorization", "Proxy-Authorization", "Authentication-Info", "Cookie", "Set-Cookie", "Session",
        "x-sessioncookie", "KeyMgmt",
    ]

    /// The headers as a log may show them: credentials, nonces and session numbers are replaced by a mark.
    package var description: String {
        fields.map { field in
            "\(String(decoding: field.name, as: UTF8.self).sanitized(limit: 64)): \(Self.shown(field))"
        }.joined(separator: ", ")
    }

    /// The same as ``description``.
    package var debugDescription: String { description }

    private static func shown(_ field: Field) -> String {
        if secretNames.contains(where: { TextBytes.isSame(field.name, ignoringCase: $0) }) { return Redaction.mark }
        if ["WWW-Authenticate", "Proxy-Authenticate"].contains(where: {
            TextBytes.isSame(field.name, ignoringCase: $0)
        }) {
            let scheme = field.value.prefix { $0.isASCIILetter }
            return "\(String(decoding: scheme, as: UTF8.self).sanitized(limit: 32)) \(Redaction.mark)"
        }
        return Redaction.redact(String(decoding: field.value, as: UTF8.self)).sanitized(limit: 256)
    }
}

extension RTSPHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The header as a log may show it.
    package var description: String {
        var headers = RTSPHeaders()
        headers.append(received: self)
        return headers.description
    }

    /// The same as ``description``.
    package var debugDescription: String { description }

    /// A mirror without children, since `dump` would show a secret value.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
