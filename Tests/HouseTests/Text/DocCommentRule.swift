/// Every public declaration has a doc comment.
///
/// Exempt, because there is nothing to add:
/// - members that fulfil a protocol in an extension that names it (`extension ImageSize: OptionValue`): the protocol
///   documents them;
/// - operators of `Equatable` and `Comparable`, `hash(into:)`, `description`, `debugDescription`, `errorDescription`,
///   `rawValue`;
/// - an initializer that only stores its parameters under their own names, or does nothing: the properties are
///   documented.
enum DocCommentRule {
    private static let knownMembers: Set<Substring> = [
        "hash", "description", "debugDescription", "errorDescription", "rawValue",
    ]
    private static let knownOperators = ["func == ", "func < ", "func <(", "func ==("]

    static func check(_ file: HouseTree.File) -> [Violation] {
        let code = SwiftText.code(of: file.text).split(separator: "\n", omittingEmptySubsequences: false)
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
        var violations: [Violation] = []
        // The declarations that enclose the current line, outermost first, each with the indentation of its first line.
        var enclosing: [(indentation: Int, isWitnesses: Bool, isPublicProtocol: Bool)] = []
        for (index, line) in code.enumerated() {
            let statement = line.drop { $0 == " " }
            guard !statement.isEmpty else { continue }
            let indentation = line.count - statement.count
            enclosing.removeAll { $0.indentation >= indentation }
            let words = SwiftText.words(of: statement)
            let isRequirement =
                enclosing.last?.isPublicProtocol == true && enclosing.last?.indentation == indentation - 4
                && ["func", "var", "init", "static", "associatedtype", "subscript", "mutating"]
                    .contains { words.prefix(4).contains($0) }
            if isRequirement || (isPublic(words) && !enclosing.contains { $0.isWitnesses }),
                !isDocumented(lines, before: index), !isExempt(statement, words), !storesOnly(code, from: index)
            {
                violations.append(
                    Violation(path: file.path, line: index + 1, message: "no doc comment: \(statement.prefix(60))"))
            }
            if words.contains("extension") || words.contains("protocol") {
                let head = statement.prefix { $0 != "{" }.split(separator: " where ").first ?? ""
                enclosing.append(
                    (
                        indentation, words.contains("extension") && head.contains(":"),
                        words.contains("protocol") && isPublic(words)
                    ))
            }
        }
        return violations
    }

    /// Whether these words begin a public declaration with a name: not an import or an extension.
    private static func isPublic(_ words: [Substring]) -> Bool {
        guard let access = words.firstIndex(where: { $0 == "public" || $0 == "open" }) else { return false }
        // Only attributes and modifiers may come before the access level.
        let before: Set<Substring> = [
            "static", "final", "override", "nonisolated", "mutating", "indirect", "consuming",
        ]
        guard words[..<access].allSatisfy({ before.contains($0) || isAttribute($0) }) else { return false }
        return !words.contains("import") && !words.contains("extension")
    }

    private static func isAttribute(_ word: Substring) -> Bool {
        ["safe", "unsafe", "frozen", "inlinable", "discardableResult", "_lifetime", "borrow", "self", "Sendable"]
            .contains(word)
    }

    private static func isDocumented(_ lines: [Substring], before index: Int) -> Bool {
        var index = index - 1
        while index >= 0 {
            let line = lines[index].drop { $0 == " " }
            if line.hasPrefix("///") { return true }
            guard line.hasPrefix("@") || line.hasPrefix("#if") else { return false }
            index -= 1
        }
        return false
    }

    private static func isExempt(_ statement: Substring, _ words: [Substring]) -> Bool {
        if knownOperators.contains(where: { statement.contains($0) }) { return true }
        guard let kind = words.firstIndex(where: { ["func", "var", "let"].contains($0) }) else { return false }
        return words.dropFirst(kind + 1).first.map(knownMembers.contains) ?? false
    }

    /// Whether an initializer begins here that only stores its parameters under their own names.
    private static func storesOnly(_ code: [Substring], from index: Int) -> Bool {
        let first = code[index].drop { $0 == " " }
        guard SwiftText.words(of: first).contains("init") else { return false }
        let indentation = code[index].prefix { $0 == " " }
        var text = String(first)
        if !first.hasSuffix("}") {
            // Up to the closing brace, in the column where it began.
            for line in code[(index + 1)...] {
                text += "\n" + line
                if line.hasPrefix(indentation + "}") { break }
            }
        }
        guard let open = text.firstIndex(of: "{"), let close = text.lastIndex(of: "}"), open < close else {
            return false
        }
        return text[text.index(after: open)..<close].split { $0 == "\n" || $0 == ";" }.allSatisfy { assignment in
            let sides = assignment.split(separator: "=").map { $0.filter { $0 != " " } }
            guard sides.count == 2 else { return sides.allSatisfy(\.isEmpty) }
            return sides[0] == "self." + sides[1]
        }
    }
}
