/// Loops that wait by yielding, which occupy the few threads that tasks share.
enum SpinningRule {
    static func check(_ file: HouseTree.File) -> [Violation] {
        let code = SwiftText.code(of: file.text)
        // Most files yield nowhere, and the expression is slow.
        guard SwiftText.words(of: code).contains("yield") else { return [] }
        return code.matches(of: /\bwhile\b[^{}]*\{\s*await\s+Task\.yield\(\)\s*\}/).map { loop in
            let line = code[..<loop.range.lowerBound].count { $0 == "\n" } + 1
            let message = "A loop waits by yielding: use Waiting.until, or an event."
            return Violation(path: file.path, line: line, message: message)
        }
    }
}
