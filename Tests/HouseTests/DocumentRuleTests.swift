import Testing

@Suite struct DocumentRuleTests {
    @Test("Every relative link in a document leads to a file of the package")
    func treeLinks() throws {
        let documents = try HouseTree.files(in: ["."], withSuffix: ".md")
        #expect(documents.contains { $0.path == "CONTRIBUTING.md" })
        #expect(documents.flatMap { DocumentRule.checkLinks($0, exists: HouseTree.exists) } == [])
    }

    @Test("Every plug-in has a README whose table names each option that its code declares")
    func treeOptions() throws {
        for plugin in try HouseTree.folders(in: "Plugins") {
            let readmes = try HouseTree.files(in: ["Plugins/\(plugin)"], withSuffix: "README.md")
            let readme = try #require(readmes.first, "Plugins/\(plugin) has no README.md")
            let sources = try HouseTree.files(in: ["Plugins/\(plugin)"], withSuffix: ".swift").map(\.text)
            #expect(DocumentRule.checkOptions(plugin: plugin, readme: readme.text, sources: sources) == [])
        }
    }

    @Test("Every target has its folder, every product its targets, and every folder its target")
    func treeTargets() throws {
        let manifest = try #require(
            try HouseTree.files(in: ["."], withSuffix: "Package.swift").first { $0.path == "Package.swift" })
        let targets = DocumentRule.targets(in: manifest.text)
        #expect(targets.count > 15)
        for target in targets {
            #expect(HouseTree.exists(target.folder), "\(target.name) has no folder \(target.folder)")
        }
        let products = DocumentRule.productTargets(in: manifest.text)
        #expect(products.contains("InletCore"))
        #expect(Set(products).subtracting(targets.map(\.name)) == [])

        let known = Set(targets.map(\.folder))
        for folder in ["Sources", "Plugins"] {
            #expect(try HouseTree.folders(in: folder).filter { !known.contains("\(folder)/\($0)") } == [])
        }
    }

    @Test("Relative links are found; others, anchors and code are not")
    func links() {
        let text = """
            See [a](Docs/a.md), ![b](b.png "B") and [c](../c.md#part).
            [d](https://example.org/x.md) [e](#e) [f](mailto:a@b) `[g](g.md)`
            ```
            [h](h.md)
            ```
            [i](<i.md>)
            """
        #expect(DocumentRule.links(in: text).map(\.target) == ["Docs/a.md", "b.png", "../c.md", "i.md"])
        #expect(DocumentRule.links(in: text).map(\.line) == [1, 1, 1, 6])
    }

    @Test("A link to a missing file, or out of the package, is reported")
    func brokenLinks() {
        let file = HouseTree.File(
            path: "Docs/a.md", text: "[a](b.md) [c](./../README.md)\n[d](../../x.md) [e](gone.md)")
        let violations = DocumentRule.checkLinks(file) { ["Docs/b.md", "README.md"].contains($0) }
        #expect(
            violations.map(\.description) == [
                "Docs/a.md:2: the link '../../x.md' leaves the package",
                "Docs/a.md:2: the link 'gone.md' leads nowhere",
            ])
    }

    @Test("An option without its row is reported")
    func options() {
        let code = """
            static let size = PluginOption("size", default: 1, "Size")
            static let fps = PluginOption<Rational>(
                "fps", default: 30, "Rate")
            static let token = PluginOption.secret("token", "What everyone must show")
            static let ca = PluginOption.file(
                "tls-ca", "Certificates")
            """
        #expect(DocumentRule.declaredOptions(in: code) == ["size", "fps", "token", "tls-ca"])
        let readme =
            "| option | type |\n|---|---|\n| `size` | WIDTHxHEIGHT |\n| `token` | |\n| `tls-ca` | |\n\nThe option `fps` is in the text only."
        #expect(
            DocumentRule.checkOptions(plugin: "X", readme: readme, sources: [code]).map(\.description)
                == ["Plugins/X/README.md: the table of options has no row for `fps`"])
        #expect(DocumentRule.checkOptions(plugin: "X", readme: readme + "\n| `fps=N` | rate |", sources: [code]) == [])
    }

    @Test("Targets and products are read from a manifest")
    func targets() {
        let manifest = """
            .library(name: "Inlet", targets: ["Inlet", "Gone"]),
            .systemLibrary(
                name: "CYUV", providers: []),
            library("InletCore", [logging]),
            plugin("PatternSource", []),
            .executableTarget(
                name: "InletCLI", dependencies: ["Inlet"]),
            .executableTarget(name: "FirstFrame", path: "Samples/FirstFrame"),
            tests("HouseTests", []),
            """
        #expect(
            DocumentRule.targets(in: manifest).map { "\($0.name) \($0.folder)" } == [
                "CYUV Sources/CYUV", "InletCore Sources/InletCore", "PatternSource Plugins/PatternSource",
                "InletCLI Sources/InletCLI", "FirstFrame Samples/FirstFrame", "HouseTests Tests/HouseTests",
            ])
        #expect(DocumentRule.productTargets(in: manifest) == ["Inlet", "Gone"])
    }
}
