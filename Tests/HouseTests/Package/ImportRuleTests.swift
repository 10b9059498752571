import Foundation
import Testing

@Suite struct ImportRuleTests {
    private static let sample = ImportRule(
        package: PackageDescription(targets: [
            .init(name: "InletCore", path: "Sources/Core/InletCore", productDependencies: ["Logging"]),
            .init(name: "InletCapture", path: "Sources/Core/InletCapture", targetDependencies: ["InletCore"]),
            .init(name: "InletServe", path: "Sources/Server/InletServe", targetDependencies: ["InletCapture"]),
            .init(name: "A", path: "Plugins/A", targetDependencies: ["InletCore", "CFFmpeg"]),
        ]))

    private func check(_ path: String, _ text: String) -> [String] {
        Self.sample.check(HouseTree.File(path: path, text: text)).map(\.description)
    }

    @Test("No public type has the name of its module, which would hide the module's other names")
    func treeNames() throws {
        let package = try PackageDescription.read()
        let files = try HouseTree.files(in: ["Sources", "Plugins"], withSuffix: ".swift")
        let kinds = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        let hidden = files.filter { file in
            guard let name = package.target(of: file)?.name else { return false }
            return SwiftText.code(of: file.text).split(separator: "\n").contains { line in
                let words = SwiftText.words(of: line).map(String.init)
                guard let kind = words.firstIndex(where: kinds.contains) else { return false }
                guard words[..<kind].contains(where: { $0 == "public" || $0 == "open" }) else { return false }
                return words.dropFirst(kind + 1).first == name
            }
        }
        #expect(hidden.map(\.path) == [])
    }

    @Test("Each module imports only direct dependencies of its target, and no dependency points upwards or sideways")
    func tree() throws {
        let rule = ImportRule(package: try PackageDescription.read())
        let files = try HouseTree.files(in: ["Sources", "Plugins"], withSuffix: ".swift")
        #expect(files.count > 20)
        #expect(files.flatMap(rule.check) == [])
        #expect(rule.checkDependencies() == [])
    }

    @Test("Each exception names a target that has the import")
    func exceptions() throws {
        let package = try PackageDescription.read()
        let files = try HouseTree.files(in: ["Sources", "Plugins"], withSuffix: ".swift")
        var used: [String: Set<String>] = [:]
        for file in files {
            guard let target = package.target(of: file) else { continue }
            used[target.name, default: []].formUnion(ImportRule.imports(in: file.text).map(\.module))
        }
        for (target, modules) in Array(ImportRule.foundation) + Array(ImportRule.others) {
            #expect(modules.isSubset(of: used[target] ?? []), "\(target)")
        }
        let names = Set(package.targets.map(\.name))
        #expect(ImportRule.pure.union(ImportRule.pluginUsers).union(ImportRule.bridges).isSubset(of: names))
    }

    @Test(
        "Every way to write an import is seen",
        arguments: [
            "import CFFmpeg", "public import CFFmpeg", "internal import CFFmpeg", "@testable import CFFmpeg",
            "@preconcurrency public import CFFmpeg", "import struct CFFmpeg.AVFrame", "import CFFmpeg.Sub",
            "#if canImport(Glibc)\nimport CFFmpeg\n#endif", "import Logging; import CFFmpeg",
            "@_exported import CFFmpeg",
            "  import\tCFFmpeg  // for a reason", "@_spi(X) import CFFmpeg",
        ])
    func spellings(text: String) {
        #expect(ImportRule.imports(in: text).map(\.module).contains("CFFmpeg"))
        #expect(check("Sources/Core/InletCore/A.swift", text).count == 1)
    }

    @Test(
        "Text that resembles an import is not one",
        arguments: [
            "// import CFFmpeg", "/* import CFFmpeg */", "let a = \"import CFFmpeg\"", "#if canImport(CFFmpeg)",
        ])
    func lookalikes(text: String) {
        #expect(ImportRule.imports(in: text).isEmpty)
    }

    @Test(
        "An import that is not a dependency is reported with its line",
        arguments: [
            ("Sources/Core/InletCore/A.swift", "Foundation"), ("Sources/Core/InletCore/A.swift", "Glibc"),
            ("Sources/Core/InletCore/A.swift", "InletCapture"), ("Sources/Core/InletCapture/A.swift", "Logging"),
            ("Sources/Server/InletServe/A.swift", "InletCore"), ("Plugins/A/A.swift", "InletCapture"),
            ("Plugins/A/B/C.swift", "FoundationEssentials"),
        ])
    func refused(path: String, module: String) {
        let name = Self.sample.package.target(of: HouseTree.File(path: path, text: ""))?.name ?? ""
        #expect(
            check(path, "\n\nimport \(module)")
                == ["\(path):3: \(name) imports \(module), which is not a dependency of it in Package.swift."])
    }

    @Test("A dependency, the C library and an exception may be imported")
    func allowed() {
        #expect(check("Plugins/A/A.swift", "import CFFmpeg\npublic import InletCore\nimport Glibc") == [])
        #expect(check("Sources/Core/InletCore/A.swift", "import Synchronization\npublic import Logging") == [])
        #expect(check("Sources/Server/InletServe/A.swift", "import FoundationEssentials") == [])
    }

    @Test("A file in no target is reported")
    func unknownTarget() {
        #expect(check("Plugins/NewSource/A.swift", "import InletCore").count == 1)
    }

    @Test(
        "A dependency of a plug-in on another or on the bridge is reported, as is one of the core or on a plug-in",
        arguments: [
            ("Plugins/B", "A"), ("Plugins/B", "InletCapture"), ("Plugins/B", "InletServe"), ("Sources/B", "A"),
            ("Sources/Core/InletCore", "InletSystem"),
        ])
    func directions(path: String, dependency: String) {
        var rule = Self.sample
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        rule.package.targets.append(.init(name: "InletSystem", path: "Sources/Core/InletSystem"))
        rule.package.targets.append(.init(name: name, path: path, targetDependencies: [dependency]))
        #expect(rule.checkDependencies().map(\.message) == ["\(name) must not depend on \(dependency)."])
    }
}
