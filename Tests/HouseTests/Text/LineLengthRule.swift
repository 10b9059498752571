/// Comments, code, scripts and documents keep to 120 columns.
///
/// Text that cannot be broken may be longer: the contents of a Swift string, a line of a table, an example of a
/// document, a word.
enum LineLengthRule {
    static let columns = 120

    static func check(_ file: HouseTree.File) -> [Violation] {
        longLines(of: file).map {
            Violation(path: file.path, line: $0, message: "more than \(columns) columns")
        }
    }

    /// Whether a file's name is that of Python, C, YAML or a shell script; a command's has no suffix.
    static func isScriptOrC(_ name: String) -> Bool {
        [".py", ".c", ".h", ".sh", ".yml", ".yaml"].contains { name.hasSuffix($0) }
    }

    private static func longLines(of file: HouseTree.File) -> [Int] {
        if file.path.hasSuffix(".md") { return longLinesOfDocument(file.text) }
        if file.path.hasSuffix(".swift") { return longLinesOfSwift(file.text) }
        return longLinesOfScript(file.text)
    }

    static func longLinesOfSwift(_ text: String) -> [Int] {
        let written = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard written.contains(where: isTooLong) else { return [] }
        // Without the contents of strings, and without comments, which are checked as they are written.
        let code = SwiftText.code(of: text).split(separator: "\n", omittingEmptySubsequences: false)
        return zip(written, code).enumerated().filter { _, line in
            let isComment = line.0.drop { $0 == " " }.hasPrefix("//")
            return isTooLong(isComment ? line.0 : line.1)
        }.map { $0.offset + 1 }
    }

    static func longLinesOfDocument(_ text: String) -> [Int] {
        var long: [Int] = []
        var isInCode = false
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let start = line.drop { $0 == " " }
            if start.hasPrefix("```") { isInCode.toggle() }
            if !isInCode, !start.hasPrefix("|"), !line.hasPrefix("    "), isTooLong(line) { long.append(index + 1) }
        }
        return long
    }

    /// Other languages include strings, because adjacent strings are joined.
    static func longLinesOfScript(_ text: String) -> [Int] {
        text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { isTooLong($0.element) }.map { $0.offset + 1 }
    }

    /// Whether a line is too long and could be broken: a word longer than half of it cannot.
    private static func isTooLong(_ line: Substring) -> Bool {
        line.count > columns && !line.split(separator: " ").contains { $0.count > columns / 2 }
    }
}
