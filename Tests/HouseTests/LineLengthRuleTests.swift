import Testing

@Suite struct LineLengthRuleTests {
    @Test("Comments, code and documents keep to 120 columns")
    func tree() throws {
        let sources = try HouseTree.files(
            in: ["Sources", "Plugins", "Tests", "Samples", "Package.swift"], withSuffix: ".swift")
        let documents = try HouseTree.files(in: ["."], withSuffix: ".md")
        #expect(sources.count > 300 && documents.count > 30)
        #expect((sources + documents).flatMap(LineLengthRule.check) == [])
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
}
