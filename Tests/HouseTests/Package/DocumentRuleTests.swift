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
        let plugins = try PackageDescription.read().targets.filter(\.isPlugin)
        #expect(plugins.count > 15)
        for folder in plugins.map(\.path) {
            let readmes = try HouseTree.files(in: [folder], withSuffix: "README.md")
            let readme = try #require(readmes.first, "\(folder) has no README.md")
            let sources = try HouseTree.files(in: [folder], withSuffix: ".swift").map(\.text)
            #expect(DocumentRule.checkOptions(readme: readme, sources: sources) == [])
        }
    }

    @Test("Every file of Sources and Plugins belongs to a target")
    func treeTargets() throws {
        let package = try PackageDescription.read()
        let files = try HouseTree.files(in: ["Sources", "Plugins"]) { !$0.hasSuffix(".png") }
        #expect(files.count > 1000)
        #expect(files.filter { package.target(of: $0) == nil }.map(\.path) == [])
    }

    @Test("Each module has a row in the architecture document, and each folder has at most 25 Swift files")
    func treeModules() throws {
        let text = try HouseTree.files(in: ["Docs"], withSuffix: "architecture.md").map(\.text).joined()
        let lines = text.split(separator: "\n").drop { $0 != "## Modules" }.filter { $0.hasPrefix("|") }
        let rows = Set(lines.joined().matches(of: /`(\w+)`/).map { String($0.output.1) })
        let modules = try PackageDescription.read().targets.filter {
            ($0.path.hasPrefix("Sources/") && !$0.path.hasPrefix("Sources/C/")) || $0.isPlugin
        }
        #expect(modules.map(\.name).filter { !rows.contains($0) } == [])

        let files = try HouseTree.files(in: ["Sources", "Plugins", "Tests"], withSuffix: ".swift")
        let folders = Dictionary(grouping: files) { $0.path.split(separator: "/").dropLast().joined(separator: "/") }
        #expect(folders.filter { $0.value.count > 25 }.map { "\($0.key): \($0.value.count)" } == [])
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
        var file = HouseTree.File(
            path: "Plugins/X/README.md",
            text:
                "| option | type |\n|---|---|\n| `size` | WIDTHxHEIGHT |\n| `token` | |\n| `tls-ca` | |\n\nThe option `fps` is in the text only."
        )
        #expect(
            DocumentRule.checkOptions(readme: file, sources: [code]).map(\.description)
                == ["Plugins/X/README.md: the table of options has no row for `fps`"])
        file.text += "\n| `fps=N` | rate |"
        #expect(DocumentRule.checkOptions(readme: file, sources: [code]) == [])
    }
}
