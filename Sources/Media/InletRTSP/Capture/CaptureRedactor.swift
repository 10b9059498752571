import InletCore

/// Masks secrets in the text of RTSP messages, byte for byte, so that all lengths are unchanged.
///
/// Masked are the user information and the parameters of addresses, the values of credentials and challenges, session
/// numbers, cookies, tokens and keys. If a text can be read in two ways, the one that hides more counts.
package struct CaptureRedactor: Sendable {
    private let mask: SecretMask

    package init(_ mask: SecretMask = SecretMask()) { self.mask = mask }

    /// Masks the secrets of one message, or of a part from its beginning.
    package func redact(_ message: inout [UInt8]) {
        var start = 0
        while start < message.count {
            let end = Self.logicalLineEnd(in: message, from: start)
            redactLine(start..<end, of: &message)
            start = end
        }
    }

    /// Returns the text that replaces a secret.
    func masked(_ secret: some Sequence<UInt8>) -> [UInt8] { mask.mask(secret) }

    /// Masks everything but the line ends.
    package func maskAll(_ text: inout [UInt8]) {
        for index in text.indices where !Self.isLineEnd(text[index]) { text[index] = UInt8(ascii: "x") }
    }

    /// Masks the secrets of an address: what precedes the host, and the values of parameters.
    package func redact(address: [UInt8]) -> [UInt8] {
        var text = address
        redactAddress(0..<text.count, of: &text)
        return text
    }

    // MARK: Lines

    /// Returns where the line ends with the lines that continue it, which begin with a blank (RFC 2326, section 4).
    private static func logicalLineEnd(in text: [UInt8], from start: Int) -> Int {
        var end = start
        while true {
            while end < text.count, text[end] != UInt8(ascii: "\n") { end += 1 }
            end = min(end + 1, text.count)
            guard end < text.count, isBlank(text[end]) else { return end }
        }
    }

    /// Attributes of SDP that hold keys (RFC 4566, section 5.12; RFC 4568; RFC 4567).
    private static let keyLines = ["k=", "a=crypto:", "a=key-mgmt:"].map { Array($0.utf8) }
    private static let controlLine = Array("a=control:".utf8)
    /// Parts of names of headers with secrets of any form.
    private static let secretWords = ["token", "cookie", "secret", "key", "passw", "credential", "auth", "session"]
        .map { Array($0.utf8) }

    private func redactLine(_ line: Range<Int>, of text: inout [UInt8]) {
        let lowered = text[line].prefix(64).map(\.lowercasedASCII)
        if let prefix = Self.keyLines.first(where: { lowered.starts(with: $0) }) {
            return hide((line.lowerBound + prefix.count)..<line.upperBound, of: &text)
        }
        if lowered.starts(with: Self.controlLine) {
            return redactAddress((line.lowerBound + Self.controlLine.count)..<line.upperBound, of: &text)
        }
        guard let colon = text[line].firstIndex(of: UInt8(ascii: ":")) else {
            return redactAddresses(line, of: &text)
        }
        let name = TextBytes.lowercased(TextBytes.trimmed(text[line.lowerBound..<colon]))
        let value = (colon + 1)..<line.upperBound
        guard !name.isEmpty, name.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "-_.".utf8.contains($0) }) else {
            return redactAddresses(line, of: &text)
        }
        switch String(decoding: name, as: UTF8.self) {
        case "authorization", "proxy-authorization": redactParameters(value, of: &text, isChallenge: false)
        case "www-authenticate", "proxy-authenticate", "authentication-info", "proxy-authentication-info":
            redactParameters(value, of: &text, isChallenge: true)
        case "session": redactSession(value, of: &text)
        case "content-base", "content-location", "location": redactAddress(value, of: &text)
        case "rtp-info":
            for part in Self.parts(of: value, in: text, at: UInt8(ascii: ",")) {
                let blanks = text[part].prefix(while: Self.isBlank).count
                let name = text[part].dropFirst(blanks).prefix(4).map(\.lowercasedASCII)
                let start = part.lowerBound + blanks + (name.elementsEqual("url=".utf8) ? 4 : 0)
                redactAddress(start..<part.upperBound, of: &text)
            }
        default:
            if Self.secretWords.contains(where: { word in Self.contains(word, in: name) }) {
                hide(value, of: &text)
            } else {
                redactAddresses(line, of: &text)
            }
        }
    }

    private func redactSession(_ value: Range<Int>, of text: inout [UInt8]) {
        for part in Self.parts(of: value, in: text, at: UInt8(ascii: ";")) {
            let (name, value) = HeaderText.pair(text[part].filter { !Self.isLineEnd($0) })
            if let value, TextBytes.isSame(name, ignoringCase: "timeout"), value.allSatisfy(\.isASCIIDigit) { continue }
            hide(part, of: &text)
        }
    }

    // MARK: Addresses

    /// Masks the secrets of all absolute addresses in a text.
    private func redactAddresses(_ range: Range<Int>, of text: inout [UInt8]) {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = text[start..<range.upperBound].firstIndex(where: Self.endsAddress) ?? range.upperBound
            if let scheme = Self.firstScheme(in: start..<end, of: text) {
                redactAddress(scheme..<end, of: &text)
            }
            start = end + 1
        }
    }

    /// Masks the secrets of one address, absolute or relative.
    func redactAddress(_ range: Range<Int>, of text: inout [UInt8]) {
        guard let scheme = Self.firstScheme(in: range, of: text) else {
            return redactParametersOfAddress(range, of: &text)
        }
        let authority = (scheme + 3)..<range.upperBound
        // The first of several addresses may end within the user information of another: the last @ counts.
        guard let at = text[authority].lastIndex(of: UInt8(ascii: "@")) else {
            return redactParametersOfAddress(authority, of: &text)
        }
        hide(authority.lowerBound..<at, of: &text)
        redactParametersOfAddress(at..<range.upperBound, of: &text)
    }

    /// Masks the values of `name=value`, and the parts of a query without a name.
    private func redactParametersOfAddress(_ range: Range<Int>, of text: inout [UInt8]) {
        var start = range.lowerBound
        var isQuery = false
        while start < range.upperBound {
            let end = text[start..<range.upperBound].firstIndex { "/?&;#".utf8.contains($0) } ?? range.upperBound
            let parameter = start..<end
            if let equals = text[parameter].firstIndex(of: UInt8(ascii: "=")) {
                let trimmed = TextBytes.trimmed(text[(equals + 1)..<end].prefix { !Self.isLineEnd($0) })
                if !Self.isShown(text[parameter.lowerBound..<equals], trimmed) {
                    hide((equals + 1)..<end, of: &text)
                }
            } else if isQuery {
                hide(parameter, of: &text)
            }
            if end < range.upperBound {
                if text[end] == UInt8(ascii: "?") || text[end] == UInt8(ascii: "#") { isQuery = true }
            }
            start = end + 1
        }
    }

    /// Names of RTP-Info that are not parameters of an address (RFC 2326, section 12.33).
    private static let infoNames = ["seq", "rtptime", "ssrc"].map { Array($0.utf8) }

    private static func isShown(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool {
        let lowered = TextBytes.lowercased(TextBytes.trimmed(name))
        if infoNames.contains(lowered), value.count <= 11 {
            return value.allSatisfy { $0.hexadecimalValue != nil || $0 == UInt8(ascii: "-") }
        }
        // Numbers of tracks, on which an answer's RTP-Info is found; too short for secrets.
        return value.count <= 2 && value.allSatisfy(\.isASCIIDigit) || Redaction.isSelector(lowered[...], value: value)
    }

    private static func firstScheme(in range: Range<Int>, of text: [UInt8]) -> Int? {
        var start = range.lowerBound
        while let colon = text[start..<range.upperBound].firstIndex(of: UInt8(ascii: ":")) {
            if text[colon..<range.upperBound].starts(with: "://".utf8) { return colon }
            start = colon + 1
        }
        return nil
    }

    // MARK: Parts of text

    /// Masks what lies between the blanks around a text. Line ends within it stay.
    func hide(_ range: Range<Int>, of text: inout [UInt8]) {
        var start = range.lowerBound
        while start < range.upperBound {
            let word = text[start..<range.upperBound].prefix { !Self.isBlank($0) && !Self.isLineEnd($0) }
            if !word.isEmpty { text.replaceSubrange(start..<word.endIndex, with: masked(word)) }
            start = word.endIndex + 1
        }
    }

    private static func parts(of range: Range<Int>, in text: [UInt8], at separator: UInt8) -> [Range<Int>] {
        text[range].split(separator: separator).map { $0.startIndex..<$0.endIndex }
    }

    private static func contains(_ word: [UInt8], in name: [UInt8]) -> Bool {
        guard name.count >= word.count else { return false }
        return (0...(name.count - word.count)).contains { name[$0...].starts(with: word) }
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") }
    // Not quotation marks, which may be part of a password.
    private static func endsAddress(_ byte: UInt8) -> Bool { byte <= 0x20 }
}
