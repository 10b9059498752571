/// Words that are forbidden in the library: code that crashes on input, code that writes without being asked to, and
/// paths of one machine.
enum ForbiddenRule {
    private static let words: [(text: String, reason: String)] = [
        ("try!", "a failure is an InletError, not a crash"),
        ("as!", "a failed cast is an InletError, not a crash"),
        ("fatalError", "a failure is an InletError, not a crash"),
        ("print(", "only the command line prints; a library logs"),
        ("debugPrint(", "only the command line prints; a library logs"),
    ]
    private static let machinePaths = ["\"/tmp/", "\"/home/", "\"/root/", "\"/Users/"]

    static func check(_ file: HouseTree.File) -> [Violation] {
        let whole = SwiftText.code(of: file.text)
        let present = words.filter { word in
            !(file.path.hasPrefix("Sources/Tool/InletCommand/") && word.text == "print(") && whole.contains(word.text)
        }
        let code = whole.split(separator: "\n", omittingEmptySubsequences: false)
        let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
        return zip(code, lines).enumerated().flatMap { index, line in
            let (code, text) = line
            var found = present.filter { isWord($0.text, in: code) }
                .map { "\($0.text) is forbidden: \($0.reason)" }
            // Paths are in strings, which the stripped code does not show.
            if !text.drop(while: { $0 == " " }).hasPrefix("//"), let path = machinePaths.first(where: text.contains) {
                found.append("\(path.dropFirst()) is a path of one machine")
            }
            return found.map { Violation(path: file.path, line: index + 1, message: $0) }
        }
    }

    /// Whether the text appears with nothing before it that would make it another name, such as `blueprint(`.
    private static func isWord(_ word: String, in code: Substring) -> Bool {
        var rest = code
        while !rest.isEmpty {
            if rest.hasPrefix(word) {
                let before = code[..<rest.startIndex]
                let isMember = before.hasSuffix(".") && !before.hasSuffix("Swift.")
                if !isMember, before.last.map({ $0.isLetter || $0.isNumber || $0 == "_" }) != true { return true }
            }
            rest = rest.dropFirst()
        }
        return false
    }
}

/// A file is its main type, and short enough to read at once.
enum FileLengthRule {
    static let maximumLines = 400

    static func check(_ file: HouseTree.File) -> [Violation] {
        let count =
            file.text.split(separator: "\n", omittingEmptySubsequences: false).count
            - (file.text.hasSuffix("\n") ? 1 : 0)
        guard count > maximumLines else { return [] }
        return [Violation(path: file.path, message: "\(count) lines; a file has at most \(maximumLines)")]
    }
}
