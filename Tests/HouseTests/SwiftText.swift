import Synchronization

/// What a rule needs to know of Swift source: the code without its comments and the contents of its strings.
///
/// A light reading, line by line kept: every line of ``code`` has the number it has in the file.
enum SwiftText {
    /// The text with comments and string contents replaced by spaces. What stands in `\( )` inside a string is blanked,
    /// too.
    ///
    /// Several rules look at each file, which is read once.
    static func code(of text: String) -> String {
        if let code = known.withLock({ $0[text] }) { return code }
        let code = withoutCommentsAndStrings(text)
        known.withLock { $0[text] = code }
        return code
    }

    private static let known = Mutex<[String: String]>([:])

    private static func withoutCommentsAndStrings(_ text: String) -> String {
        var result = ""
        var rest = Substring(text)
        while let character = rest.first {
            if rest.hasPrefix("//") {
                blank(&rest, into: &result) { !$0.hasPrefix("\n") }
            } else if rest.hasPrefix("/*") {
                let end = rest.range(ofEnd: "*/")
                blank(&rest, into: &result) { $0.startIndex < end }
            } else if let delimiter = stringDelimiter(rest) {
                let end = endOfString(rest, delimiter)
                result.append("\"")
                rest.removeFirst()
                blank(&rest, into: &result) { $0.startIndex < end }
                result.append("\"")
            } else {
                result.append(character)
                rest.removeFirst()
            }
        }
        return result
    }

    /// The words of a line: runs of letters, digits and underscores.
    static func words(of line: some StringProtocol) -> [Substring] {
        Substring(line).split { !($0.isLetter || $0.isNumber || $0 == "_") }
    }

    private static func blank(_ rest: inout Substring, into result: inout String, while condition: (Substring) -> Bool)
    {
        while let character = rest.first, condition(rest) {
            if character.isNewline { result.append(character) }
            rest.removeFirst()
        }
    }

    /// The quotes that open a string here: `"`, `"""`, with any number of `#` before them.
    private static func stringDelimiter(_ text: Substring) -> (hashes: Int, quotes: String)? {
        let hashes = text.prefix { $0 == "#" }.count
        let afterHashes = text.dropFirst(hashes)
        guard afterHashes.hasPrefix("\"") else { return nil }
        return (hashes, afterHashes.hasPrefix("\"\"\"") ? "\"\"\"" : "\"")
    }

    private static func endOfString(_ text: Substring, _ delimiter: (hashes: Int, quotes: String)) -> Substring.Index {
        let hashes = String(repeating: "#", count: delimiter.hashes)
        let closing = delimiter.quotes + hashes
        let escape = "\\" + hashes
        var rest = text.dropFirst(delimiter.hashes + delimiter.quotes.count)
        while !rest.isEmpty {
            if rest.hasPrefix(escape) {
                rest = rest.dropFirst(escape.count)
                if rest.hasPrefix("(") { skipInterpolation(&rest) } else { rest = rest.dropFirst() }
            } else if rest.hasPrefix(closing) {
                return rest.dropFirst(closing.count).startIndex
            } else {
                rest = rest.dropFirst()
            }
        }
        return text.endIndex
    }

    private static func skipInterpolation(_ rest: inout Substring) {
        var depth = 0
        while let character = rest.first {
            if let delimiter = stringDelimiter(rest) {
                rest = rest[endOfString(rest, delimiter)...]
                continue
            }
            rest.removeFirst()
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if depth == 0 { return }
        }
    }
}

extension Substring {
    /// Where the first occurrence of `text` ends, or the end.
    fileprivate func range(ofEnd text: String) -> Index {
        var rest = self
        while !rest.isEmpty, !rest.hasPrefix(text) { rest = rest.dropFirst() }
        return rest.dropFirst(text.count).startIndex
    }
}
