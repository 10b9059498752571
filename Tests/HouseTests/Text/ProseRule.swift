/// Phrases that stop a native reader, with what to write instead.
enum ProseRule {
    /// A sequence of words that is reported.
    struct Phrase {
        enum Place {
            case anywhere
            /// Only at the beginning of a sentence that is not a question.
            case beginning
            /// Only before punctuation or a conjunction.
            case end
        }

        /// The words in lower case, each with its alternatives. Only the first may be in upper case in a text.
        var words: [Set<String>]
        var place: Place
        /// Words that may come before or after, because with them the phrase is idiomatic.
        var exceptions: (before: Set<String>, after: Set<String>)
        var advice: String

        init(
            _ words: [String], _ place: Place = .anywhere, unlessBefore following: String = "",
            unlessAfter preceding: String = "", write advice: String
        ) {
            self.words = words.map(Self.set)
            self.place = place
            exceptions = (Self.set(preceding), Self.set(following))
            self.advice = advice
        }

        private static func set(_ words: String) -> Set<String> { Set(words.split(separator: " ").map(String.init)) }
    }

    static let phrases = [
        Phrase(["alone"], .end, write: "'only' before the word that it limits"),
        Phrase(["anew"], write: "'again'"),
        Phrase(["what which where"], .beginning, unlessBefore: "is", write: "the noun or the verb first"),
        Phrase(["who whoever whom"], .beginning, write: "the role: client, viewer, caller, operator"),
        Phrase(["of"], .beginning, unlessBefore: "course", write: "the noun or the verb first"),
        Phrase(
            ["who whoever", "shows has asks comes opens reads waits wants takes needs"],
            write: "the role: client, viewer, caller, operator"),
        Phrase(["this that it", "is", "no"], .beginning, unlessBefore: "longer more", write: "'not a'"),
        Phrase(["is are was were", "none"], unlessAfter: "there", write: "'has no'"),
        Phrase(["of", "late"], write: "'recently'"),
        Phrase(["lately"], write: "'recently'"),
        Phrase(
            ["stand stands stood", "there in on at for beside behind"],
            write: "'is in', 'appears in' or 'represents'"),
        Phrase(["tell tells told", "of what how which that"], write: "'report'"),
        Phrase(["say says", "what how which so why whether"], write: "'state' or 'report'"),
        Phrase(
            ["what", "is was are were", "put given taken made done told said asked left wanted meant"],
            write: "the name of the thing"),
        Phrase(["of", "its their one's his our", "own"], unlessBefore: "process", write: "'its own' or 'separate'"),
        Phrase(["as", "none nobody nothing", "is are has does"], write: "'because no'"),
        Phrase(["in", "place stead", "of"], write: "'instead of'"),
        Phrase(["is are", "mended minded heeded borne"], write: "'fixed', 'respected' or 'handled'"),
        Phrase(["where", "there", "is are"], write: "'if' or 'when'"),
        Phrase(["where", "nobody nothing no"], write: "'if' or 'when'"),
        Phrase(["to", "be", "had"], write: "'available'"),
        Phrase(["beside besides", "it them"], write: "'next to'"),
    ]

    private static let byFirstWord: [String: [Phrase]] = phrases.reduce(into: [:]) { index, phrase in
        for word in phrase.words[0] { index[word, default: []].append(phrase) }
    }

    private static let conjunctions: Set<Substring> = ["and", "or", "where", "if", "as", "that", "is", "are"]

    /// Finds phrases in the comments, sentences and strings of a file.
    static func check(_ file: HouseTree.File) -> [Violation] {
        let words = ProseText(of: file).words
        var found: [Violation] = []
        for (index, word) in words.enumerated() {
            let candidates = byFirstWord[word.text.lowercased()] ?? []
            let previous = word.beginsSentence || index == 0 ? nil : words[index - 1].text.lowercased()
            guard
                let phrase = candidates.first(where: { phrase in
                    !(previous.map(phrase.exceptions.before.contains) ?? false) && matches(phrase, words[index...])
                })
            else { continue }
            let text = words[index...].prefix(phrase.words.count).map(\.text).joined(separator: " ")
            found.append(Violation(path: file.path, line: word.line, message: "'\(text)': write \(phrase.advice)"))
        }
        return found
    }

    private static func matches(_ phrase: Phrase, _ words: ArraySlice<ProseText.Word>) -> Bool {
        let length = phrase.words.count
        guard words.count >= length else { return false }
        for (index, (word, alternatives)) in zip(words, phrase.words).enumerated() {
            // A sentence does not continue after its end.
            if index > 0, word.beginsSentence { return false }
            if index < length - 1, word.mark != nil { return false }
            if !alternatives.contains(index == 0 ? word.text.lowercased() : String(word.text)) { return false }
        }
        let last = words[words.startIndex + length - 1]
        let next = words.dropFirst(length).first.flatMap { $0.beginsSentence ? nil : $0 }
        if let next, last.mark == nil, phrase.exceptions.after.contains(next.text.lowercased()) { return false }
        switch phrase.place {
        case .anywhere: return true
        case .beginning: return isBeginning(words)
        case .end: return last.mark != nil || next.map { conjunctions.contains($0.text) } ?? true
        }
    }

    /// Whether the first word, in upper case, begins a sentence of at least three words that is not a question.
    private static func isBeginning(_ words: ArraySlice<ProseText.Word>) -> Bool {
        guard words.first?.beginsSentence == true, words.first?.text.first?.isUppercase == true else { return false }
        var length = 0
        for word in words {
            if length > 0, word.beginsSentence { break }
            length += 1
            if word.mark == "?" { return false }
        }
        return length > 2
    }
}
