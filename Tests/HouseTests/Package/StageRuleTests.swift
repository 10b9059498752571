import Foundation
import Testing

@Suite struct StageRuleTests {
    @Test("Each declared tag has a stage and a suite, and each tag of a suite is declared")
    func treeTags() throws {
        let files = try HouseTree.files(in: ["Tests"], withSuffix: ".swift").filter {
            !$0.path.hasPrefix("Tests/HouseTests/")
        }
        let declaration = try #require(files.first { $0.path == "Tests/ReferenceTools/Running/Tag+Needs.swift" })
        let declared = Set(StageRule.declaredTags(in: declaration.text))
        let used = Set(files.flatMap(StageRule.suites).flatMap(\.tags))
        #expect(declared == used)
        let table = try String(
            contentsOf: HouseTree.root.appending(path: "Scripts/gate/stages.py"), encoding: .utf8)
        for tag in declared { #expect(table.contains("tag=\"\(tag)\""), "no stage runs the suites with \(tag)") }
    }

    @Test("Every folder with tests is a target of the package")
    func treeTargets() throws {
        let package = try PackageDescription.read()
        let files = try HouseTree.files(in: ["Tests"], withSuffix: ".swift").filter { $0.text.contains("@Test") }
        #expect(files.count > 100)
        #expect(files.filter { package.target(of: $0)?.path.hasPrefix("Tests/") != true }.map(\.path) == [])
    }

    @Test("Suites that start servers, players or browsers have a tag")
    func treePeers() throws {
        let files = try HouseTree.files(in: ["Tests"], withSuffix: ".swift").filter {
            !$0.path.hasPrefix("Tests/HouseTests/")
        }
        let tagged = files.flatMap(StageRule.suites).filter { !$0.tags.isEmpty }
        let names = Set(tagged.map(\.name))
        #expect(files.flatMap { StageRule.checkPeers($0, tagged: names) } == [])
    }

    @Test("Suites are read with their tags, whatever other traits they have")
    func suites() {
        let file = HouseTree.File(
            path: "Tests/ATests/A.swift",
            text: """
                @Suite(.tags(.server), .serialized) struct A {
                    @Test func a() {}
                }
                @Suite(
                    .tags(.chromium, .server), .enabled(if: B.missing == nil, "\\(B.missing ?? "")"))
                struct B {}
                @Suite struct C {}
                extension A {
                    @Suite(.tags(.rtcPeer)) struct D {}
                }
                """)
        let suites = StageRule.suites(in: file)
        #expect(suites.map(\.name) == ["A", "B", "C", "D"])
        #expect(suites.map(\.tags) == [["server"], ["chromium", "server"], [], ["rtcPeer"]])
    }

    @Test("A suite that starts a server without a tag is reported")
    func peers() {
        let file = HouseTree.File(
            path: "Tests/ATests/A.swift", text: "@Suite struct A { @Test func a() throws { try RTSPServer() } }")
        #expect(StageRule.checkPeers(file, tagged: []).count == 1)
        #expect(StageRule.checkPeers(file, tagged: ["A"]) == [])
    }
}
