import Testing

@Suite struct SpinningRuleTests {
    private func lines(_ text: String) -> [Int?] {
        SpinningRule.check(HouseTree.File(path: "A.swift", text: text)).map(\.line)
    }

    @Test("No test waits by yielding")
    func tree() throws {
        let files = try HouseTree.files(in: ["Tests", "Sources/Testing/InletTesting"], withSuffix: ".swift")
        #expect(files.flatMap(SpinningRule.check) == [])
    }

    @Test(
        "A loop that yields until a condition holds is reported with its line",
        arguments: [
            "f()\nwhile !done { await Task.yield() }", "while !done {\n    await Task.yield()\n}",
            "f()\nwhile a.contains(where: { $0.b }) { await Task.yield() }",
            "while !done {\n    gate.open(); await Task.yield()\n}",
            "while true {\n    if done { break } else { await Task.yield() }\n}",
            "repeat {\n    await Task.yield()\n} while !done", "while !done,\n    f(a) { await Task.yield() }",
        ])
    func loops(text: String) {
        #expect(lines(text) == [2])
    }

    @Test(
        "Yielding a number of times, or next to a loop, is not reported",
        arguments: [
            "for _ in 0..<3 { await Task.yield() }", "while !done { f() }\nawait Task.yield()",
            "repeat { f() } while !done\nif a { await Task.yield() }", "// while !done { await Task.yield() }",
            "while !done { stream.yield() }", "let a = \"while !done { await Task.yield() }\"",
        ])
    func others(text: String) {
        #expect(lines(text) == [])
    }
}
