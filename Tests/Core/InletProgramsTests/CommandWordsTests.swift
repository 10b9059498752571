import InletCore
import InletSystem
import Testing

@testable import InletPrograms

struct CommandWordsTests {
    @Test(
        "A command is split as by a shell, and nothing is expanded",
        arguments: [
            ("ffplay -", ["ffplay", "-"]), ("  a\t b\nc ", ["a", "b", "c"]), ("a 'b c' d", ["a", "b c", "d"]),
            ("a \"b 'c' \\\" \\\\ \\n\"", ["a", "b 'c' \" \\ \\n"]), ("a b\\ c \\'", ["a", "b c", "'"]),
            ("a '' \"\"", ["a", "", ""]), ("a'b'\"c\"d", ["abcd"]),
            ("a \u{301}b", ["a", "\u{301}b"]), ("a 'b c'\u{301}", ["a", "b c\u{301}"]),
            ("a\r\nb", ["a\r", "b"]), ("a \\\u{E9}", ["a", "\u{E9}"]),
            ("a $HOME `b` * ; c", ["a", "$HOME", "`b`", "*", ";", "c"]),
        ])
    func split(command: String, words: [String]) throws {
        #expect(try CommandWords.split(command, of: "exec:").map { Array($0.utf8) } == words.map { Array($0.utf8) })
        #expect(try CommandWords.split(CommandWords.join(words), of: "exec:") == words)
    }

    @Test(
        "A command that is empty or ends within a quote is refused",
        arguments: ["", "  ", "a 'b", "a \"b", "a\\", "'' a"])
    func refused(command: String) {
        let error = #expect(throws: InletError.self) { try CommandWords.split(command, of: "exec:") }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.hasPrefix("The command of exec: ") == true)
    }

    @Test("The tail keeps complete last lines, bounded in number and length")
    func tail() {
        var tail = ErrorTail()
        #expect(tail.text == nil)
        tail.append(Array("one\n\n  \ntwo\rthree\nfour\nfive\nsi\u{1b}[1mx".utf8))
        #expect(tail.text == "three / four / five / si[1mx")
        for _ in 0..<1000 { tail.append(Array(repeating: UInt8(ascii: "y"), count: 1000)) }
        #expect((tail.text?.utf8.count ?? 0) < 4 * 310)
    }
}
