import InletCore

/// Credentials and challenges (RFC 7616, sections 3.3 to 3.5, and RFC 7617).
extension CaptureRedactor {
    private static let schemes = ["basic", "digest", "bearer", "negotiate", "ntlm"].map { Array($0.utf8) }
    /// Parameters whose values affect the client's behaviour and are not secret.
    private static let open = ["algorithm", "qop", "stale", "nc", "charset", "userhash"].map { Array($0.utf8) }
    /// Parameters whose values are masked; a parameter with another name may be a piece of a token, and is masked
    /// completely.
    private static let secret = [
        "realm", "nonce", "opaque", "domain", "username", "username*", "uri", "response", "cnonce", "nextnonce",
        "rspauth",
    ].map { Array($0.utf8) }

    /// Masks the parameters of a credential or of one or several challenges.
    ///
    /// - Parameter isChallenge: whether the first word is a scheme, even one that is not known.
    func redactParameters(_ range: Range<Int>, of text: inout [UInt8], isChallenge: Bool) {
        var position = range.lowerBound
        var isFirst = true
        var takesParameters = isChallenge
        while true {
            position = Self.skip(position..<range.upperBound, of: text) { Self.isSpace($0) || ",=".utf8.contains($0) }
            guard position < range.upperBound else { return }
            let end = Self.skip(position..<range.upperBound, of: text) {
                !Self.isSpace($0) && !",=\"".utf8.contains($0)
            }
            let word = position..<max(end, min(position + 1, range.upperBound))
            let name = TextBytes.lowercased(text[word])
            let behind = Self.skip(word.upperBound..<range.upperBound, of: text, while: Self.isSpace)
            defer { isFirst = false }
            guard behind < range.upperBound, text[behind] == UInt8(ascii: "=") else {
                // Only the scheme's name is left of a credential. A Basic credential is one word, and all of it is
                // secret.
                let isScheme = Self.schemes.contains(name)
                if isFirst { takesParameters = isChallenge || name == Self.schemes[1] }
                if !isScheme, !(isFirst && isChallenge) { hide(word, of: &text) }
                position = word.upperBound
                continue
            }
            let isOpen = takesParameters && Self.open.contains(name)
            if !isOpen, !(takesParameters && Self.secret.contains(name)) { hide(word, of: &text) }
            let value = Self.value(after: behind, in: range, of: text)
            if !isOpen { hideBytes(value, of: &text) }
            position = min(value.upperBound + 1, range.upperBound)
        }
    }

    /// Returns the range of a value, without its quotes.
    private static func value(after equals: Int, in range: Range<Int>, of text: [UInt8]) -> Range<Int> {
        let start = skip((equals + 1)..<range.upperBound, of: text, while: isSpace)
        guard start < range.upperBound, text[start] == UInt8(ascii: "\"") else {
            return start..<skip(start..<range.upperBound, of: text) { !isSpace($0) && $0 != UInt8(ascii: ",") }
        }
        var end = start + 1
        while end < range.upperBound, text[end] != UInt8(ascii: "\"") {
            end += text[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        return (start + 1)..<max(start + 1, min(end, range.upperBound))
    }

    /// Masks a quoted value as one secret, blanks included. Line ends within it stay.
    private func hideBytes(_ range: Range<Int>, of text: inout [UInt8]) {
        for line in text[range].split(whereSeparator: Self.isLineEnd) {
            text.replaceSubrange(line.startIndex..<line.endIndex, with: masked(line))
        }
    }

    private static func skip(_ range: Range<Int>, of text: [UInt8], while matches: (UInt8) -> Bool) -> Int {
        var index = range.lowerBound
        while index < range.upperBound, matches(text[index]) { index += 1 }
        return index
    }

    private static func isSpace(_ byte: UInt8) -> Bool { isBlank(byte) || isLineEnd(byte) }
}
