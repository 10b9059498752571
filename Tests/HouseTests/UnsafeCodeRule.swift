/// Unsafe code stands in buffer types and named owner types, and nowhere else.
///
/// The compiler wants `unsafe` in front of every unsafe expression, so the word shows where such code is.
enum UnsafeCodeRule {
    /// The files that may hold unsafe code, each with the reason. A file that no longer holds any must leave the list.
    static let allowed: [String: String] = [
        "Sources/InletCore/I420Buffer.swift": "the buffer type: hands out the memory it wraps as spans",
        "Sources/InletCore/I420Draft.swift": "the buffer type while it is written",
        "Sources/InletCore/I420Memory.swift": "allocates, owns and frees a picture's memory",
        "Sources/InletCore/SourceFrame.swift":
            "a native plane: a pointer into memory that the frame's owner keeps alive",
    ]

    /// The lines of a text that hold the word `unsafe`, `nonisolated(unsafe)` included, or name an unsafe type outright.
    static func lines(in text: String) -> [Int] {
        SwiftText.code(of: text).split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { _, line in SwiftText.words(of: line).contains { $0 == "unsafe" || $0.hasPrefix("Unsafe") } }
            .map { $0.offset + 1 }
    }

    static func check(_ files: [HouseTree.File], allowed: [String: String]) -> [Violation] {
        var violations: [Violation] = []
        var unused = Set(allowed.keys)
        for file in files {
            guard let first = lines(in: file.text).first else { continue }
            if unused.remove(file.path) == nil {
                violations.append(
                    Violation(
                        path: file.path, line: first,
                        message: "unsafe code outside the owner and buffer types listed in UnsafeCodeRule"))
            }
        }
        return violations
            + unused.sorted().map {
                Violation(path: $0, message: "holds no unsafe code: take it off UnsafeCodeRule's list")
            }
    }
}
