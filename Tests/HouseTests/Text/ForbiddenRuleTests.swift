import Testing

@Suite struct ForbiddenRuleTests {
    private func count(_ text: String, path: String = "Sources/Core/InletCore/A.swift") -> Int {
        ForbiddenRule.check(HouseTree.File(path: path, text: text)).count
    }

    @Test("Sources and Plugins contain nothing forbidden")
    func tree() throws {
        let files = try HouseTree.files(in: ["Sources", "Plugins"], withSuffix: ".swift")
        #expect(files.flatMap(ForbiddenRule.check) == [])
    }

    @Test(
        "Forbidden code is reported",
        arguments: [
            "let a = try! f()", "let a = b as! C", "fatalError()", "Swift.fatalError()", "print(1)", "  debugPrint(1)",
            "let a = \"/tmp/x\"", "open(\"/home/me/clip.mp4\")", "f(try! g(), h)",
        ])
    func forbidden(text: String) {
        #expect(count(text) == 1)
    }

    @Test(
        "Code that only looks forbidden is not reported",
        arguments: [
            "// try! not", "let a = \"fatalError\"", "blueprint(1)", "let a = try? f()", "b as? C", "a.print(1)",
            "/// Writes to /tmp/x.", "let a = \"/dev/video0\"", "// \"/tmp/x\"",
        ])
    func lookalikes(text: String) {
        #expect(count(text) == 0)
    }

    @Test("The command line may print, and nothing else that is forbidden")
    func commandLine() {
        #expect(count("print(1)", path: "Sources/Tool/InletCommand/A.swift") == 0)
        #expect(count("try! f()", path: "Sources/Tool/InletCommand/A.swift") == 1)
    }
}

@Suite struct FileLengthRuleTests {
    @Test("No Swift file is longer than 400 lines")
    func tree() throws {
        let files = try HouseTree.files(in: ["Sources", "Plugins", "Tests", "Samples"], withSuffix: ".swift")
        #expect(files.flatMap(FileLengthRule.check) == [])
    }

    @Test("A file of 400 lines is not too long, one of 401 is")
    func length() {
        let text = String(repeating: "a\n", count: 400)
        #expect(FileLengthRule.check(HouseTree.File(path: "A.swift", text: text)) == [])
        #expect(FileLengthRule.check(HouseTree.File(path: "A.swift", text: text + "a")).count == 1)
        #expect(FileLengthRule.check(HouseTree.File(path: "A.swift", text: text + "a\n")).count == 1)
    }
}
