/// Loops that wait by yielding, which occupy the few threads that tasks share.
enum SpinningRule {
    /// Finds calls of `Task.yield` in the body of a `while` or `repeat`. A `for` that yields a number of times, to vary
    /// the order of tasks, is not a wait.
    static func check(_ file: HouseTree.File) -> [Violation] {
        let code = SwiftText.code(of: file.text)
        guard code.contains("Task.yield") else { return [] }
        var found: [Violation] = []
        // Whether each open brace belongs to a loop, and the depth of parentheses at which a loop expects its brace.
        var (braces, parentheses, expected) = ([Bool](), 0, Int?.none)
        for (index, line) in code.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var rest = line
            while let character = rest.first {
                if let word = SwiftText.words(of: rest).first, rest.hasPrefix(word) {
                    // A `while` after a closing brace ends a `repeat`.
                    let endsRepeat = line[..<rest.startIndex].last { $0 != " " } == "}"
                    if word == "repeat" || word == "while" && !endsRepeat { expected = parentheses }
                    if rest.hasPrefix("Task.yield()"), braces.contains(true) {
                        let message = "A loop waits by yielding: use Waiting.until, or an event."
                        found.append(Violation(path: file.path, line: index + 1, message: message))
                    }
                    rest = rest.dropFirst(word.count)
                    continue
                }
                switch character {
                case "(": parentheses += 1
                case ")": parentheses -= 1
                case "{":
                    braces.append(expected == parentheses)
                    if expected == parentheses { expected = nil }
                case "}": _ = braces.popLast()
                default: break
                }
                rest = rest.dropFirst()
            }
        }
        return found
    }
}
