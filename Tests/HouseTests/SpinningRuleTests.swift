import Testing

@Suite struct SpinningRuleTests {
    @Test("No test waits by yielding")
    func tree() throws {
        let files = try HouseTree.files(in: ["Tests", "Sources/InletTesting"], withSuffix: ".swift")
        #expect(files.filter { !$0.path.hasPrefix("Tests/Benchmarks/") }.flatMap(SpinningRule.check) == [])
    }

    @Test("A loop that only yields is named with its line, one that yields between other work is not")
    func loops() {
        let spinning = HouseTree.File(path: "A.swift", text: "f()\nwhile !done {\n    await Task.yield()\n}\n")
        #expect(SpinningRule.check(spinning).map(\.line) == [2])
        let working = HouseTree.File(path: "A.swift", text: "for _ in 0..<3 { await Task.yield() }\nlet yield = 1\n")
        #expect(SpinningRule.check(working) == [])
    }
}
