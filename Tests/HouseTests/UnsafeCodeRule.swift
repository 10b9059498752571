/// Unsafe code has a named owner. A file that contains unsafe code states the reason above the declaration of that
/// owner, as `// Unsafe: owns a libavformat output.`; `@unchecked Sendable` counts as unsafe code.
///
/// The compiler requires the word `unsafe` before each unsafe expression, so the word shows where such code is. All
/// reasons: `grep -rn '// Unsafe: ' Sources Plugins`.
enum UnsafeCodeRule {
    private static let label = "// Unsafe:"
    private static let declarations: Set<Substring> = [
        "struct", "class", "enum", "actor", "protocol", "extension", "func", "var", "let",
    ]

    /// The lines of a text that hold the word `unsafe`, `nonisolated(unsafe)` included, or name an unsafe type
    /// directly.
    static func lines(in text: String) -> [Int] {
        SwiftText.code(of: text).split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { _, line in
                SwiftText.words(of: line).contains {
                    $0 == "unsafe" || $0 == "unchecked" || $0.hasPrefix("Unsafe")
                }
            }
            .map { $0.offset + 1 }
    }

    static func check(_ file: HouseTree.File) -> [Violation] {
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.drop { $0 == " " } }
        let reasons = lines.indices.filter { lines[$0].hasPrefix(label) }
        let unsafe = self.lines(in: file.text)
        var found: [Violation] = []
        func report(_ line: Int?, _ message: String) {
            found.append(Violation(path: file.path, line: line, message: message))
        }
        if let first = unsafe.first, reasons.isEmpty {
            report(
                first,
                "Unsafe code has no reason. Add a line such as '\(label) owns a descriptor.' above its owner.")
        }
        for index in reasons {
            if unsafe.isEmpty { report(index + 1, "The file has no unsafe code. Remove the line.") }
            let reason = lines[index].dropFirst(label.count)
            if reason.count < 12 || !reason.hasPrefix(" ") || !reason.hasSuffix(".") {
                report(index + 1, "The reason is not a sentence that ends with a full stop.")
            }
            // The line is above the documentation: the compiler ignores documentation above another comment.
            let next = lines[(index + 1)...].first { !$0.hasPrefix("//") && !isAttributes($0) } ?? ""
            if !SwiftText.words(of: next).contains(where: declarations.contains) {
                report(index + 1, "The reason is not above a declaration and its documentation.")
            }
            if index > 0, lines[index - 1].hasPrefix("///") {
                report(index + 1, "The reason is below documentation, which the compiler then ignores. Move it above.")
            }
        }
        return found
    }

    /// Whether a line has attributes and no declaration.
    private static func isAttributes(_ line: Substring) -> Bool {
        line.hasPrefix("@") && !SwiftText.words(of: line).contains(where: declarations.contains)
    }
}
