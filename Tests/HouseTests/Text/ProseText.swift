/// The words that people read in a file: those of comments, documents and strings.
struct ProseText {
    /// A word without the punctuation next to it.
    struct Word: Equatable {
        var text: Substring
        /// The line that the word is in; the first is 1.
        var line: Int
        /// Whether the word begins a sentence, a heading or an item of a list.
        var beginsSentence = false
        /// The punctuation that follows the word, if any.
        var mark: Character?

        var endsSentence: Bool { mark == "." || mark == "!" || mark == "?" || mark == ":" }
    }

    /// The word that represents a piece of code in a sentence.
    static let code: Substring = "`"

    private(set) var words: [Word] = []
    private var mayBegin = true

    init(of file: HouseTree.File) {
        let name = file.path.split(separator: "/").last ?? ""
        let language = name.split(separator: ".").dropFirst().last.map(String.init) ?? "sh"
        var isInBlock = false
        for (index, line) in file.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let content = line.drop { $0 == " " }
            switch language {
            case "md": readDocument(content, index + 1, &isInBlock)
            case "swift", "c", "h": readCode(content, index + 1, comments: ["///", "//", "/*", "*"], &isInBlock)
            case "html": readCode(content, index + 1, comments: ["//", "<!--"], &isInBlock)
            default: readCode(content, index + 1, comments: ["#"], &isInBlock)
            }
        }
        breakOff()
    }

    // MARK: Documents

    private mutating func readDocument(_ line: Substring, _ number: Int, _ isInBlock: inout Bool) {
        if line.hasPrefix("```") { isInBlock.toggle() }
        let isItem = line.hasPrefix("- ") || line.hasPrefix("* ") || line.first?.isNumber == true
        if line.isEmpty || line.hasPrefix("#") || isItem || line.hasPrefix("|") || line.hasPrefix("```") { breakOff() }
        guard !isInBlock, !line.hasPrefix("```") else { return }
        for cell in line.split(separator: "|") {
            read(cell.drop { "#>-*0123456789. ".contains($0) }, number)
            if line.hasPrefix("|") { breakOff() }
        }
        if line.hasPrefix("#") { breakOff() }
    }

    // MARK: Code

    private mutating func readCode(_ line: Substring, _ number: Int, comments: [String], _ isInBlock: inout Bool) {
        let quotes = line.matches(of: /"{3}/).count
        if isInBlock || quotes > 0 {
            if line.isEmpty { breakOff() }
            read(line.drop { $0 == "\"" }, number)
            if !quotes.isMultiple(of: 2) {
                isInBlock.toggle()
                breakOff()
            }
        } else if let mark = comments.first(where: line.hasPrefix) {
            let text = line.dropFirst(mark.count).drop { $0 == " " }
            if text.isEmpty || text.hasPrefix("- ") { breakOff() }
            read(text, number)
        } else {
            breakOff()
            for string in Self.strings(in: line) {
                read(string, number)
                breakOff()
            }
        }
    }

    /// The contents of the quoted strings of a line that can be sentences: those with at least two spaces.
    private static func strings(in line: Substring) -> [Substring] {
        var (found, begin, isEscaped) = ([Substring](), Substring.Index?.none, false)
        for (index, byte) in zip(line.utf8.indices, line.utf8) {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                guard let first = begin else {
                    begin = line.utf8.index(after: index)
                    continue
                }
                let string = line[first..<index]
                if string.utf8.count(where: { $0 == UInt8(ascii: " ") }) > 1 { found.append(string) }
                begin = nil
            }
        }
        return found
    }

    // MARK: Words

    /// Ends the passage: the next word begins a sentence.
    private mutating func breakOff() { mayBegin = true }

    private mutating func read(_ text: Substring, _ line: Int) {
        let text = text.replacing("``", with: "`")
        for (offset, part) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
            if offset.isMultiple(of: 2) {
                for word in part.split(separator: " ") { add(word, line) }
            } else if !part.isEmpty {
                append(Word(text: Self.code, line: line))
            }
        }
    }

    private mutating func add(_ text: Substring, _ line: Int) {
        let word = text.drop { !$0.isLetter && !$0.isNumber }
        let end = word.lastIndex { $0.isLetter || $0.isNumber }
        guard let end else {
            // Punctuation after a piece of code.
            if let mark = text.first, !words.isEmpty, ".!?:,;)".contains(mark) { words[words.count - 1].mark = mark }
            return
        }
        let marks = word[word.index(after: end)...]
        let mark = marks.first { ".!?:".contains($0) } ?? marks.first { ",;)".contains($0) }
        append(Word(text: word[...end], line: line, mark: mark))
    }

    private mutating func append(_ word: Word) {
        var word = word
        word.beginsSentence = mayBegin || words.last?.endsSentence == true && word.text.first?.isUppercase == true
        mayBegin = false
        words.append(word)
    }
}
