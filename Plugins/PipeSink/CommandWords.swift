import InletCore

/// Splits a command into words as a shell does, without any of its expansions.
///
/// Words are parted by spaces. Single quotes keep everything; double quotes keep everything but `\"` and `\\`; a backslash outside of quotes keeps the
/// next character.
enum CommandWords {
    /// - Throws: ``InletError/Code/invalidConfiguration`` where a quote is not closed or there is no word.
    static func split(_ command: String) throws(InletError) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var characters = command[...]
        while let character = characters.popFirst() {
            switch (quote, character) {
            case ("'", "'"), ("\"", "\""): quote = nil
            case ("'", _): word = (word ?? "") + String(character)
            case ("\"", "\\") where characters.first == "\"" || characters.first == "\\":
                word = (word ?? "") + String(characters.removeFirst())
            case ("\"", _): word = (word ?? "") + String(character)
            case (_, "'"), (_, "\""):
                quote = character
                word = word ?? ""
            case (_, "\\"):
                guard let kept = characters.popFirst() else { throw unfinished("a backslash") }
                word = (word ?? "") + String(kept)
            case (_, " "), (_, "\t"), (_, "\n"):
                if let finished = word { words.append(finished) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let quote { throw unfinished("an open \(quote)") }
        if let word { words.append(word) }
        guard let program = words.first, !program.isEmpty else {
            throw InletError(.invalidConfiguration, "A command is needed, such as 'exec:ffplay -'.")
        }
        return words
    }

    /// Writes words as one would type them.
    static func join(_ words: [String]) -> String {
        words.map { word in
            let isPlain = !word.isEmpty && !word.contains { " \t\n'\"\\".contains($0) }
            return isPlain
                ? word : "'\(word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
        }
        .joined(separator: " ")
    }

    private static func unfinished(_ what: String) -> InletError {
        InletError(.invalidConfiguration, "The command of exec: ends with \(what). Close it, or write shell=true.")
    }
}
