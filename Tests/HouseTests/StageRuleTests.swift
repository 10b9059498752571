import Foundation
import Testing

@Suite struct StageRuleTests {
    /// What `Scripts/test --stages` prints: the suites of each tag.
    private static func stages() throws -> [String: [String]] {
        let process = Process()
        process.executableURL = HouseTree.root.appending(path: "Scripts/test")
        process.arguments = ["--stages"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let lines = text.split(separator: "\n").map { $0.split(separator: ":") }
        return Dictionary(
            uniqueKeysWithValues: lines.map { line in
                (String(line[0]), line.dropFirst().flatMap { $0.split(separator: " ") }.map(String.init))
            })
    }

    @Test("Scripts/test has a stage for each declared tag, with the suites that have it")
    func treeStages() throws {
        let files = try HouseTree.files(in: ["Tests"], withSuffix: ".swift")
        let declaration = try #require(files.first { $0.path == "Tests/ReferenceTools/Tag+Stages.swift" })
        let tags = StageRule.declaredTags(in: declaration.text)
        let stages = try Self.stages()
        #expect(Set(stages.keys) == Set(tags))
        let suites = files.filter { $0.module != "HouseTests" }.flatMap(StageRule.suites)
        for tag in tags {
            let tagged = suites.filter { $0.tags.contains(tag) }.map(\.name)
            #expect(!tagged.isEmpty, "no suite has the tag \(tag)")
            #expect(stages[tag]?.sorted() == tagged.sorted(), "the suites of \(tag)")
        }
        #expect(Set(suites.flatMap(\.tags)).subtracting(tags) == [])
        #expect(files.filter { $0.module != "HouseTests" }.flatMap(StageRule.check) == [])
    }

    @Test("Each stage's tests run: the script filters by its tag")
    func treeFilters() throws {
        let script = try String(contentsOf: HouseTree.root.appending(path: "Scripts/test"), encoding: .utf8)
        for tag in try Self.stages().keys { #expect(script.contains("$(tagged \(tag))"), "no stage runs \(tag)") }
    }

    @Test("Every folder with tests is a target of the package")
    func treeTargets() throws {
        let package = try String(contentsOf: HouseTree.root.appending(path: "Package.swift"), encoding: .utf8)
        let modules = Set(
            try HouseTree.files(in: ["Tests"], withSuffix: ".swift").filter { $0.text.contains("@Test") }
                .map(\.module))
        for module in modules { #expect(package.contains("\"\(module)\""), "\(module) is no target") }
    }

    @Test("Tests that start servers, players or browsers are not in the first stage")
    func treePeers() throws {
        let files = try HouseTree.files(in: ["Tests"], withSuffix: ".swift").filter { $0.module != "HouseTests" }
        let tagged = files.flatMap(StageRule.suites).filter { !$0.tags.isEmpty }
        let names = Set(tagged.compactMap { $0.name.split(separator: ".").last.map(String.init) })
        #expect(files.flatMap { StageRule.checkPeers($0, tagged: names) } == [])
    }

    @Test("Suites are read with their tags, whatever else stands in their traits")
    func suites() {
        let file = HouseTree.File(
            path: "Tests/ATests/A.swift",
            text: """
                @Suite(.tags(.server), .serialized) struct A {
                    @Test func a() {}
                }
                @Suite(
                    .tags(.browser, .server), .enabled(if: B.missing == nil, "\\(B.missing ?? "")"))
                struct B {}
                @Suite struct C {}
                extension A {
                    @Suite(.tags(.peer)) struct D {}
                }
                """)
        let suites = StageRule.suites(in: file)
        #expect(suites.map(\.name) == ["ATests.A", "ATests.B", "ATests.C", "ATests.D"])
        #expect(suites.map(\.tags) == [["server"], ["browser", "server"], [], ["peer"]])
        #expect(StageRule.check(file).count == 2)
    }

    @Test("A suite that starts a server without a tag is named")
    func peers() {
        let file = HouseTree.File(
            path: "Tests/ATests/A.swift", text: "@Suite struct A { @Test func a() throws { try RTSPServer() } }")
        #expect(StageRule.checkPeers(file, tagged: []).count == 1)
        #expect(StageRule.checkPeers(file, tagged: ["A"]) == [])
    }
}
