extension StringProtocol {
    /// Returns the text in a form that is safe in a log, an error, a report or a terminal, whatever its origin.
    ///
    /// Characters that control a terminal, end a line or reorder the text around them (controls, formats such as
    /// bidirectional overrides and zero-width characters, line and paragraph separators, private-use or unassigned
    /// characters) are written as `\u{1B}`. Text beyond the limit is cut and ends in `...`.
    ///
    /// - Parameter limit: the most bytes of UTF-8. The default is 1024.
    package func sanitized(limit: Int = 1024) -> String {
        // Most text needs no change.
        if utf8.count <= limit, utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return String(self) }
        let mark = "..."
        var result = ""
        var end = result.endIndex
        for scalar in unicodeScalars {
            let text = scalar.isDisplayed ? String(scalar) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            if result.utf8.count + text.utf8.count > limit {
                // The mark fits after the last character that leaves room for it.
                return String(result[..<end]) + mark
            }
            result += text
            if result.utf8.count + mark.utf8.count <= limit { end = result.endIndex }
        }
        return result
    }
}

extension Unicode.Scalar {
    /// Whether the character is only displayed, rather than controlling or reordering text.
    fileprivate var isDisplayed: Bool {
        if isASCII { return (0x20...0x7E).contains(value) }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }
}
