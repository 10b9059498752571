import Testing

@Suite struct ByteTextRuleTests {
    @Test("Text is read as bytes, except in the listed files, and each of these still needs the exception")
    func tree() throws {
        let files = try HouseTree.files(in: ["Sources", "Plugins"], withSuffix: ".swift")
        #expect(ByteTextRule.check(files, allowed: ByteTextRule.allowed) == [])
    }

    @Test("Every file on the list has its reason")
    func reasons() {
        #expect(ByteTextRule.allowed.values.allSatisfy { $0.count > 10 })
    }

    @Test(
        "Code that reads text by Unicode's rules is reported",
        arguments: [
            "text.split(whereSeparator: \\.isNewline)", "while line.last?.isNewline == true {", "$0.isLetter",
            "name.lowercased()", "if url.hasPrefix(\"http:\")", "text.split(separator: \"\\n\")",
            "text.components(separatedBy: \";\")", "text.firstIndex(of: \":\")", "url.firstRange(of: mark)",
            "text.range(of: \"x\")", "text.contains(\"..\")", "\" \\t\".contains($0)", "url.prefix { $0 != \":\" }",
            "if line.first == \"#\"", "copy.last != \"0\"",
        ])
    func forbidden(text: String) {
        #expect(ByteTextRule.lines(in: text).map(\.number) == [1])
    }

    @Test(
        "Code that reads bytes is not reported",
        arguments: [
            "text.split(atByte: \"\\n\")", "if url.hasBytePrefix(\"http:\")",
            "text.utf8.firstIndex(of: UInt8(ascii: \":\"))",
            "line.utf8.split { $0 == UInt8(ascii: \"\\n\") }", "[\"udp\", \"srt\"].contains(scheme)",
            "names.contains(name)",
            "text.firstRange(ofBytes: \"://\")", "url.prefix(upToByte: \":\")", "// hasPrefix(",
            "let a = \".isNewline\"",
            "(0...9).contains(number)", "if list.first == nil",
        ])
    func taken(text: String) {
        #expect(ByteTextRule.lines(in: text).isEmpty)
    }

    @Test("A file on the list that does not need it any more is reported")
    func rot() {
        let clean = HouseTree.File(path: "Sources/Core/A/A.swift", text: "let a = 1")
        let other = HouseTree.File(path: "Sources/Core/B/B.swift", text: "a.hasPrefix(b)")
        let all = ByteTextRule.check(
            [clean, other],
            allowed: [
                "Sources/Core/A/A.swift": "was", "Sources/Core/A/Gone.swift": "was",
                other.path: "for eyes",
            ])
        #expect(all.map(\.path) == ["Sources/Core/A/A.swift", "Sources/Core/A/Gone.swift"])
        #expect(ByteTextRule.check([other], allowed: [:]).map(\.line) == [1])
    }
}
