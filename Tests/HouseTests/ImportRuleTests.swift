import Testing

@Suite struct ImportRuleTests {
    private func check(_ path: String, _ text: String) -> [String] {
        ImportRule.check(HouseTree.File(path: path, text: text)).map(\.description)
    }

    @Test("No module imports what lies above or beside it")
    func tree() throws {
        let files = try HouseTree.files(in: ["Sources", "Plugins"], withSuffix: ".swift")
        #expect(files.count > 20)
        #expect(files.flatMap(ImportRule.check) == [])
    }

    @Test("Every module has its line, and every line its module")
    func table() throws {
        let modules = try HouseTree.folders(in: "Sources").filter { folder in
            try !HouseTree.files(in: ["Sources/\(folder)"], withSuffix: ".swift").isEmpty
        }
        #expect(modules == ImportRule.sources.keys.sorted())
        #expect(try HouseTree.folders(in: "Plugins") == ImportRule.plugins.keys.sorted())
    }

    @Test(
        "Every way to write an import is seen",
        arguments: [
            "import CFFmpeg", "public import CFFmpeg", "internal import CFFmpeg", "@testable import CFFmpeg",
            "@preconcurrency public import CFFmpeg", "import struct CFFmpeg.AVFrame", "import CFFmpeg.Sub",
            "#if canImport(Glibc)\nimport CFFmpeg\n#endif", "import InletCore; import CFFmpeg",
            "@_exported import CFFmpeg",
            "  import\tCFFmpeg  // for a reason", "@_spi(X) import CFFmpeg",
        ])
    func spellings(text: String) {
        #expect(ImportRule.imports(in: text).map(\.module).contains("CFFmpeg"))
        #expect(check("Sources/InletCore/A.swift", text).count == 1 + (text.contains("InletCore;") ? 1 : 0))
    }

    @Test(
        "What only looks like an import is none",
        arguments: [
            "// import CFFmpeg", "/* import CFFmpeg */", "let a = \"import CFFmpeg\"", "#if canImport(CFFmpeg)",
        ])
    func lookalikes(text: String) {
        #expect(ImportRule.imports(in: text).isEmpty)
    }

    @Test(
        "A wrong direction is named",
        arguments: [
            ("Sources/InletCore/A.swift", "Foundation"), ("Sources/InletCore/A.swift", "CYUV"),
            ("Sources/InletCore/A.swift", "PatternSource"), ("Sources/InletConvert/A.swift", "InletCapture"),
            ("Sources/InletCapture/A.swift", "CFFmpeg"), ("Sources/InletCapture/A.swift", "FFmpegSource"),
            ("Sources/InletTesting/A.swift", "InletCapture"), ("Plugins/PatternSource/A.swift", "FFmpegSource"),
            ("Plugins/PatternSource/A.swift", "InletCapture"), ("Plugins/FileSinks/A.swift", "Inlet"),
            ("Plugins/PatternSource/A.swift", "CFFmpeg"), ("Plugins/FFmpegSource/A.swift", "Foundation"),
        ])
    func directions(path: String, module: String) {
        let name = path.split(separator: "/")[1]
        #expect(check(path, "\n\nimport \(module)") == ["\(path):3: \(name) must not import \(module)"])
    }

    @Test("A right direction is not")
    func allowed() {
        #expect(
            check("Plugins/FFmpegSource/A.swift", "import CFFmpeg\npublic import InletCore\nimport InletFFmpeg") == [])
        #expect(check("Sources/InletCore/A.swift", "import Synchronization\npublic import Logging") == [])
    }

    @Test("A module without a line in the table is named")
    func unknownModule() {
        #expect(check("Plugins/NewSource/A.swift", "import InletCore").count == 1)
    }
}
