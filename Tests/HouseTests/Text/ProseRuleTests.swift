import Testing

@Suite struct ProseRuleTests {
    /// The number of findings that a folder may have. It may only shrink.
    private static let allowances: [String: Int] = [:]

    private func findings(_ text: String, in path: String = "A.md") -> [Violation] {
        ProseRule.check(HouseTree.File(path: path, text: text))
    }

    @Test("No folder has more findings than its allowance, and no allowance is larger than needed")
    func tree() throws {
        let endings = [".swift", ".c", ".h", ".md", ".py", ".html", ".yaml"]
        let files = try HouseTree.files(in: ["."]) { name in endings.contains(where: name.hasSuffix) }
        let scripts = try HouseTree.files(in: ["Scripts"]) { !$0.contains(".") }
        // The rule and its tests contain the phrases, and frozen headers are never edited.
        let excluded = ["HouseTests/Text/ProseRule", "Tests/TestPlugins/Frozen/"]
        let others = (files + scripts).filter { file in !excluded.contains { file.path.contains($0) } }
        let found = Dictionary(grouping: others.flatMap(ProseRule.check)) { violation in
            violation.path.split(separator: "/").prefix(2).joined(separator: "/")
        }
        for (folder, violations) in found where violations.count > Self.allowances[folder, default: 0] {
            Issue.record("\(violations.map(\.description).joined(separator: "\n"))")
        }
        for (folder, allowance) in Self.allowances where allowance > found[folder, default: []].count {
            Issue.record("Lower the allowance of \(folder) from \(allowance) to \(found[folder, default: []].count).")
        }
    }

    @Test(
        "A sentence that stops a native reader is reported once",
        arguments: [
            "The rate is set by the camera alone.", "Opens the camera anew.", "What the camera sends is decoded.",
            "Which camera is used depends on the rule.", "Where the file ends, the reader stops.",
            "Who opens the page gets a form.", "Of two cameras the first is used.",
            "A viewer who waits gets a picture.", "This is no request.", "Its name was none.",
            "A change of late.", "The camera was lately opened.", "The name stands in the list.",
            "The log tells what happened.", "The error says why.", "The handler gets what was given.",
            "A thread of its own runs it.", "It continues, as nobody is there.", "A picture in place of the video.",
            "Each flag is heeded.", "It reconnects where there is a network.", "It waits where no camera is.",
            "Pictures are to be had.", "The file beside it is read.",
        ])
    func bad(sentence: String) {
        #expect(findings(sentence).count == 1)
    }

    @Test(
        "A good sentence with the same words is not reported",
        arguments: [
            "Only the camera sets the rate.", "A camera that stands alone in a room works.",
            "What is new in this version",
            "Which camera do you have?", "What does the log contain?", "The folder where recordings are stored.",
            "This is no longer supported.", "A viewer that waits gets a picture.", "Who?",
            "Of course.", "It is null if there is none.", "while value is None:",
            "The error tells operators the cause.",
            "A plug-in runs in a process of its own process group.", "A stand-in for the camera.",
            "In place, without a copy.", "The sentence ends here alone in a line of text",
            "The value is in. Place of birth.",
        ])
    func good(sentence: String) {
        #expect(findings(sentence) == [])
    }

    @Test("Comments, documents, docstrings and strings are read; code is not")
    func places() {
        #expect(findings("let alone = 1\n/// Opens it\n/// anew.", in: "A.swift").map(\.line) == [3])
        #expect(findings("throw E(\"It cannot be opened anew.\")", in: "A.swift").map(\.line) == [1])
        #expect(
            findings("let a = \"\"\"\n    It is opened\n    anew.\n    \"\"\"\nanew()", in: "A.swift").map(\.line) == [
                3
            ])
        #expect(findings("/* Opens it\n * anew. */\nanew();", in: "a.c").map(\.line) == [2])
        #expect(findings("def f():\n    \"\"\"Opens it anew.\"\"\"\n    anew()", in: "a.py").map(\.line) == [2])
        #expect(findings("anew\n# Opens it anew.", in: "Scripts/a").map(\.line) == [2])
        #expect(findings("<p title=\"It is opened anew.\">", in: "a.html").map(\.line) == [1])
        #expect(findings("# Open\n\n```\nanew\n```\n| a | opened anew |\n`anew`", in: "a.md").map(\.line) == [6])
    }

    @Test("A finding names the phrase and its replacement")
    func message() {
        #expect(findings("Opens it anew.").map(\.description) == ["A.md:1: 'anew': write 'again'"])
    }
}
