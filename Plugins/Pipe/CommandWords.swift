import InletCore

/// Splits a command into words like a shell, but without expansions.
///
/// Spaces separate words. Single quotes preserve everything; double quotes preserve everything except `\"` and `\\`; a
/// backslash outside of quotes preserves the next character.
enum CommandWords {
    /// - Throws: ``InletError/Code/invalidConfiguration`` if a quote is not closed or there is no word.
    static func split(_ command: String) throws(InletError) -> [String] {
        let (single, double, backslash) = (UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\\"))
        var words: [[UInt8]] = []
        var word: [UInt8]?
        var quote: UInt8?
        var rest = Array(command.utf8)[...]
        while let byte = rest.popFirst() {
            switch (quote, byte) {
            case (single, single), (double, double): quote = nil
            case (single, _): word = (word ?? []) + [byte]
            case (double, backslash) where rest.first == double || rest.first == backslash:
                word = (word ?? []) + [rest.removeFirst()]
            case (double, _): word = (word ?? []) + [byte]
            case (_, single), (_, double):
                quote = byte
                word = word ?? []
            case (_, backslash):
                // Only the first byte of a multi-byte character; the other bytes have no special meaning.
                guard let kept = rest.popFirst() else { throw unfinished("a backslash") }
                word = (word ?? []) + [kept]
            case (_, UInt8(ascii: " ")), (_, UInt8(ascii: "\t")), (_, UInt8(ascii: "\n")):
                if let finished = word { words.append(finished) }
                word = nil
            default: word = (word ?? []) + [byte]
            }
        }
        if let quote { throw unfinished("an open \(Unicode.Scalar(quote))") }
        if let word { words.append(word) }
        guard let program = words.first, !program.isEmpty else {
            throw InletError(.invalidConfiguration, "The command is missing. Add one, such as 'exec:ffplay -'.")
        }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the words as a user would type them.
    static func join(_ words: [String]) -> String {
        words.map { word in
            let isPlain = !word.isEmpty && !word.utf8.contains { " \t\n'\"\\".utf8.contains($0) }
            return isPlain
                ? word : "'\(word.split(atByte: "'").joined(separator: "'\\''"))'"
        }
        .joined(separator: " ")
    }

    private static func unfinished(_ what: String) -> InletError {
        InletError(.invalidConfiguration, "The command of exec: ends with \(what). Complete it, or add shell=true.")
    }
}
