import InletCore
import Testing

@Suite struct TextBytesTests {
    private static func lines(_ text: String) -> [String] {
        TextBytes.lines(text.utf8).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("Lines end at LF and CR, and at no other Unicode line ending")
    func lines() {
        #expect(Self.lines("a\r\nb\n\rc\n\n") == ["a", "b", "c"])
        #expect(Self.lines("a\u{2028}b\u{85}c\u{b}d\u{c}e") == ["a\u{2028}b\u{85}c\u{b}d\u{c}e"])
        // The mark does not combine with the line ending.
        #expect(Self.lines("a\n\u{301}b").map { Array($0.utf8) } == [[97], [0xcc, 0x81, 98]])
        #expect(Self.lines("") == [])
    }

    @Test("Only A to Z have a case, and equal text has equal bytes")
    func letters() {
        #expect(TextBytes.isSame("BeArEr".utf8, ignoringCase: "bearer"))
        // The sign for Kelvin, which Unicode lowercases to a k.
        #expect(!TextBytes.isSame("\u{212a}elvin".utf8, ignoringCase: "kelvin"))
        #expect(!TextBytes.isSame("bearer\u{301}".utf8, ignoringCase: "bearer"))
        #expect(TextBytes.lowercased("ÄZ@[".utf8) == Array("Äz@[".utf8))
    }

    @Test(
        "A number is decimal digits and nothing else",
        arguments: [
            ("0", 0), ("007", 7), ("4294967295", 4_294_967_295), ("4294967296", nil), ("", nil), ("-1", nil),
            ("+1", nil),
            ("1 ", nil), ("0x1", nil), ("٣", nil), ("99999999999999999999", nil), ("9223372036854775808", nil),
        ] as [(String, Int?)])
    func numbers(_ text: String, _ number: Int?) { #expect(TextBytes.number(text.utf8) == number) }

    @Test("The largest number is accepted")
    func largest() {
        #expect(TextBytes.number("9223372036854775807".utf8, upTo: .max) == .max)
        #expect(TextBytes.number("9223372036854775808".utf8, upTo: .max) == nil)
    }

    @Test("Blanks around a text are left out")
    func trimming() {
        #expect(Array(TextBytes.trimmed(" \t a b \t".utf8)) == Array("a b".utf8))
        #expect(TextBytes.trimmed("  ".utf8).isEmpty)
    }
}
