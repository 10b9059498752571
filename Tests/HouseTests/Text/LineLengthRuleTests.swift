import Testing

@Suite struct LineLengthRuleTests {
    @Test("Comments, code, scripts and documents keep to 120 columns")
    func tree() throws {
        let sources = try HouseTree.files(
            in: ["Sources", "Plugins", "Tests", "Samples", "Package.swift"], withSuffix: ".swift")
        let documents = try HouseTree.files(in: ["."], withSuffix: ".md")
        // Files by their suffix anywhere, and commands, which have none.
        let scripts = try HouseTree.files(in: [".", ".ci"], where: LineLengthRule.isScriptOrC)
        let commands = try HouseTree.files(in: ["Scripts", ".ci"]) { !$0.contains(".") }
        #expect(sources.count > 300 && documents.count > 30 && scripts.count > 60 && commands.count > 10)
        #expect((sources + documents + scripts + commands).flatMap(LineLengthRule.check) == [])
    }

    @Test("Long comments and long code are found; a long string, table, example or word is not")
    func lines() {
        let long = Array(repeating: "word", count: 30).joined(separator: " ")
        let source = """
            // \(long)
            let a = "\(long)"
            let b = f(\(long))
            /// <https://example.org/\(String(repeating: "a", count: 120))>
            """
        #expect(LineLengthRule.longLinesOfSwift(source) == [1, 3])
        let document = "\(long)\n| \(long) |\n```\n\(long)\n```\n- \(long)\n"
        #expect(LineLengthRule.longLinesOfDocument(document) == [1, 6])
    }

    @Test(
        "In Python, C, YAML and scripts long comments, code and strings are found; a long word is not",
        arguments: ["Scripts/test", ".ci/run", "a.py", "a.c", "a.h", "a.sh", "a.yml"])
    func scripts(path: String) {
        let long = Array(repeating: "word", count: 30).joined(separator: " ")
        let fits = String(long.prefix(120))
        let text = """
            # \(long)
            say("\(long)")
            say(\(long))
            \(fits)
            # https://example.org/\(String(repeating: "a", count: 120))
            """
        let found = LineLengthRule.check(HouseTree.File(path: path, text: text))
        #expect(found.map(\.line) == [1, 2, 3])
    }

    @Test("Python, C, YAML and shell scripts are recognized by their suffix")
    func suffixes() {
        let names = ["a.py", "a.c", "a.h", "a.sh", "a.yml", "a.txt", "a.json", "a.svg", "a.pyc", "run"]
        #expect(names.filter(LineLengthRule.isScriptOrC) == ["a.py", "a.c", "a.h", "a.sh", "a.yml"])
    }
}
