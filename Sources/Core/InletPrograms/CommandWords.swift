package import InletCore

/// Splits a command into words like a shell, but without expansions.
///
/// Spaces separate words. Single quotes preserve everything; double quotes preserve everything except `\"` and `\\`; a
/// backslash outside of quotes preserves the next character.
package enum CommandWords {
    /// Returns the words of a command, at least one.
    ///
    /// - Parameters:
    ///   - owner: the name of the setting with the command, for errors.
    ///   - remedy: the advice if the command is incomplete.
    /// - Throws: ``InletError/Code/invalidConfiguration`` if a quote is not closed or there is no word.
    package static func split(
        _ command: String, of owner: String, remedy: String = "Complete it."
    ) throws(InletError) -> [String] {
        func refusal(_ state: String, _ remedy: String) -> InletError {
            InletError(.invalidConfiguration, "The command of \(owner) \(state). \(remedy)")
        }
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
                guard let kept = rest.popFirst() else { throw refusal("ends with a backslash", remedy) }
                word = (word ?? []) + [kept]
            case (_, UInt8(ascii: " ")), (_, UInt8(ascii: "\t")), (_, UInt8(ascii: "\n")):
                if let finished = word { words.append(finished) }
                word = nil
            default: word = (word ?? []) + [byte]
            }
        }
        if let quote { throw refusal("ends with an open \(Unicode.Scalar(quote))", remedy) }
        if let word { words.append(word) }
        guard let program = words.first, !program.isEmpty else {
            throw refusal("is missing", "Add a program and its arguments.")
        }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the words as a user would type them.
    package static func join(_ words: [String]) -> String {
        words.map { word in
            let isPlain = !word.isEmpty && !word.utf8.contains { " \t\n'\"\\".utf8.contains($0) }
            return isPlain
                ? word : "'\(word.split(atByte: "'").joined(separator: "'\\''"))'"
        }
        .joined(separator: " ")
    }
}
