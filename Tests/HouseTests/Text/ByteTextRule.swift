/// Text from outside is bytes until it has been checked: code that walks or compares `String` by Unicode's rules must
/// not make decisions about data from a network, a file, a device or a stranger's URI.
///
/// To Swift U+037E equals `;`, a `:` with a combining accent is not a `:`, U+2028 is a newline and U+0660 a digit. The
/// library that reads the same bytes knows none of that, so a check in such terms can be bypassed.
/// `Sources/Core/InletCore/Text/ByteText.swift` has the same operations on bytes; `utf8` and `[UInt8]`, compared with
/// `UInt8(ascii:)`, work as well.
///
/// The rule sees how code is written, not where its text comes from, so it applies to all text. Strings that the
/// program made may still be compared with `==` and looked up in sets.
enum ByteTextRule {
    /// The forbidden code and its replacement. For a literal, only its quotation marks are visible.
    private static let forbidden: [(text: String, instead: String)] = [
        (".isNewline", "compare with the bytes of CR and LF"), (".isWhitespace", "isASCIISpace of a byte"),
        (".isLetter", "isASCIILetter of a byte"), (".isNumber", "isASCIIDigit of a byte"),
        (".isWholeNumber", "isASCIIDigit of a byte"), (".wholeNumberValue", "isASCIIDigit of a byte"),
        (".isHexDigit", "hexadecimalValue of a byte"), (".hexDigitValue", "hexadecimalValue of a byte"),
        ("lowercased()", "lowercasedASCII"), ("uppercased()", "uppercasedASCII"),
        ("caseInsensitiveCompare(", "lowercasedASCII"), (".capitalized", "uppercasedASCII"),
        ("hasPrefix(", "hasBytePrefix(_:)"), ("hasSuffix(", "hasByteSuffix(_:)"),
        ("split(separator: \"", "split(atByte:)"), ("components(separatedBy", "split(atByte:)"),
        ("trimmingCharacters(", "trimmed(whereByte:)"), ("replacingOccurrences(", "bytes"),
        ("firstIndex(of: \"", "firstIndex(ofByte:)"), ("lastIndex(of: \"", "lastIndex(ofByte:)"),
        ("irstRange(of: ", "firstRange(ofBytes:)"), (".range(of: ", "firstRange(ofBytes:)"),
        (".ranges(of: ", "firstRange(ofBytes:)"),
        (".contains(\"", "contains(byte:) or containsBytes(_:)"), ("\".contains(", "a comparison of bytes"),
        ("$0 == \"", "a comparison of bytes"), ("$0 != \"", "prefix(upToByte:) or a comparison of bytes"),
        (".first == \"", "hasBytePrefix(_:)"), (".first != \"", "hasBytePrefix(_:)"),
        (".last == \"", "hasByteSuffix(_:)"), (".last != \"", "hasByteSuffix(_:)"),
    ]

    /// Files that may contain such code, each with the reason. A file that no longer contains any must leave the list.
    static let allowed: [String: String] = [:]

    /// The lines of a text that contain such code, with the replacement for each.
    static func lines(in text: String) -> [(number: Int, word: String, instead: String)] {
        let code = SwiftText.code(of: text)
        // Few files contain any of them, and searching a whole file takes less time than searching each line.
        let present = forbidden.filter { code.contains($0.text) }
        guard !present.isEmpty else { return [] }
        return code.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
            present.filter { line.contains($0.text) }.map { (index + 1, $0.text, $0.instead) }
        }
    }

    static func check(_ files: [HouseTree.File], allowed: [String: String]) -> [Violation] {
        var violations: [Violation] = []
        var unused = Set(allowed.keys)
        for file in files {
            let lines = lines(in: file.text)
            guard !lines.isEmpty else { continue }
            guard unused.remove(file.path) == nil else { continue }
            violations += lines.map {
                Violation(
                    path: file.path, line: $0.number,
                    message: "\($0.word) reads text by Unicode's rules; for text from outside: \($0.instead)")
            }
        }
        return violations
            + unused.sorted().map {
                Violation(path: $0, message: "holds nothing of that: take it off ByteTextRule's list")
            }
    }
}
