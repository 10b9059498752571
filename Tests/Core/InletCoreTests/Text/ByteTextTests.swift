import InletCore
import Testing

@Suite struct ByteTextTests {
    /// Bytes that `String` mistakes for something else.
    @Test("Bytes keep their meaning, whatever follows them or is equivalent to them")
    func bytes() {
        let accented = "http:\u{301}//host"
        #expect(!accented.hasPrefix("http:"))
        #expect(accented.hasBytePrefix("http:"))
        #expect("a\u{37E}b".firstIndex(of: ";") != nil)
        #expect("a\u{37E}b".firstIndex(ofByte: ";") == nil)
        #expect("\u{212A}ey" == "Key")
        #expect(!"\u{212A}ey".isSameBytes(as: "Key"))
        #expect("one\u{2028}two".split { $0.isNewline }.count == 2)
        #expect("one\u{2028}two".split(atByte: "\n").count == 1)
        #expect("one\r\ntwo".split(atByte: "\n").map(String.init) == ["one\r", "two"])
        #expect("\u{661}\u{662}".allSatisfy { $0.isNumber })
        #expect(!"\u{661}\u{662}".isASCIIDigits)
        #expect("I\u{130}K\u{212A}".lowercasedASCII.utf8.elementsEqual("i\u{130}k\u{212A}".utf8))
    }

    @Test("Text is split, searched and trimmed at ASCII bytes")
    func parts() throws {
        #expect("a;b;;c".split(atByte: ";").map(String.init) == ["a", "b", "", "c"])
        #expect("a;b;;c".split(atByte: ";", keepsEmpty: false).map(String.init) == ["a", "b", "c"])
        #expect("a=b=c".split(atByte: "=", limit: 1).map(String.init) == ["a", "b=c"])
        #expect("".split(atByte: ";").map(String.init) == [""])
        #expect("scheme://host".prefix(upToByte: ":") == "scheme")
        #expect("no colon".prefix(upToByte: ":") == "no colon")
        #expect("123abc".prefix { $0.isASCIIDigit } == "123")
        #expect(" \t x y\r\n".trimmed() == "x y")
        #expect(" \t\r\n".trimmed() == "")
        let range = try #require("user@@host://".firstRange(ofBytes: "@h"))
        #expect("user@@host://"[range] == "@h")
        #expect("aaab".firstRange(ofBytes: "ab") != nil)
        #expect("aaa".firstRange(ofBytes: "ab") == nil)
        #expect("clip.MP4".hasByteSuffix(".MP4") && !"4".hasByteSuffix(".MP4"))
        #expect("a,b".lastIndex(ofByte: ",") == "a,b".firstIndex(ofByte: ","))
        #expect("abc".contains(byte: "b") && "abc".containsBytes("bc") && !"abc".containsBytes("cb"))
        #expect("http".uppercasedASCII == "HTTP")
    }

    @Test("Every byte has its ASCII meaning")
    func kinds() {
        for byte in UInt8.min ... .max {
            let character = Character(Unicode.Scalar(byte))
            let isASCII = byte < 128
            #expect(byte.isASCIIDigit == (isASCII && character.isNumber))
            #expect(byte.isASCIILetter == (isASCII && character.isLetter))
            #expect(byte.isASCIISpace == (isASCII && character.isWhitespace))
            #expect(byte.hexadecimalValue.map(Int.init) == (isASCII ? character.hexDigitValue : nil))
            #expect(
                String(Unicode.Scalar(byte.lowercasedASCII)) == (isASCII ? character.lowercased() : String(character)))
        }
    }
}

@Suite struct SanitizedTextTests {
    @Test(
        "Characters that control a terminal, end a line or reverse text are escaped",
        arguments: [
            ("Not Found", "Not Found"), ("\u{1B}[2J\u{7}", "\\u{1B}[2J\\u{7}"),
            ("a\r\nINFO forged", "a\\u{D}\\u{A}INFO forged"),
            ("\u{9B}31m", "\\u{9B}31m"), ("\u{202E}gpj.exe", "\\u{202E}gpj.exe"),
            ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
            ("one\u{2028}two", "one\\u{2028}two"), ("\u{200B}\u{FEFF}", "\\u{200B}\\u{FEFF}"),
            ("\u{E000}\u{E0041}", "\\u{E000}\\u{E0041}"), ("\u{7F}", "\\u{7F}"),
            ("Gr\u{FC}\u{DF}e \u{4E2D} e\u{301}", "Gr\u{FC}\u{DF}e \u{4E2D} e\u{301}"),
        ])
    func escapes(text: String, expected: String) {
        #expect(text.sanitized().utf8.elementsEqual(expected.utf8))
    }

    @Test("Text that is too long is cut at a character, and marked as cut")
    func limit() {
        #expect("12345".sanitized(limit: 5) == "12345")
        #expect("123456".sanitized(limit: 5) == "12...")
        let long = String(repeating: "\u{1B}", count: 100_000).sanitized()
        #expect(long.utf8.count <= 1024 && long.hasSuffix("..."))
        for limit in 3...40 {
            let text = "a\u{4E2D}\u{1F600}\u{1B}zz\u{4E2D}b\u{202E}c".sanitized(limit: limit)
            #expect(text.utf8.count <= limit && !text.contains("\u{FFFD}"), "\(limit): \(text)")
        }
    }

    @Test("Sanitising sanitised text changes nothing")
    func idempotent() {
        let text = "\u{1B}[31m\u{202E}Fehler \u{FC}ber".sanitized()
        #expect(text.sanitized() == text)
    }
}
