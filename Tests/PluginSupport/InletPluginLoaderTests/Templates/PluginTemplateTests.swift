import Foundation
import InletCore
import InletPluginLoader
import ReferenceTools
import Testing

@Suite(.blocking) struct PluginTemplateTests {
    @Test(
        "a project in C or C++ builds without a warning and exports only its entry point",
        arguments: [PluginLanguage.c, .cpp])
    func compiled(language: PluginLanguage) throws {
        let folder = try Folder(language, name: "acme-camera")
        defer { folder.remove() }
        // The Makefile sets -Wall -Wextra -Werror.
        _ = try ReferenceCommand.run("make", ["-C", folder.path])
        let symbols = try ReferenceCommand.run("nm", ["-D", "-g", "--defined-only", folder.path + "/acme-camera.so"])
        let names = String(decoding: symbols, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: " ").last
        }
        #expect(names == ["inlet_plugin_entry"])
    }

    @Test("a project in Python compiles")
    func python() throws {
        let folder = try Folder(.python, name: "acme-camera")
        defer { folder.remove() }
        _ = try ReferenceCommand.run("python3", ["-m", "py_compile", folder.path + "/acme-camera.py"])
        _ = try ReferenceCommand.run("python3", ["-m", "py_compile", folder.path + "/inlet_plugin.py"])
    }

    @Test("sources in Swift have no syntax errors")
    func swift() throws {
        let folder = try Folder(.swift, name: "acme-camera")
        defer { folder.remove() }
        for file in try PluginTemplate(.swift).files(name: "acme-camera") where file.path.hasSuffix(".swift") {
            _ = try ReferenceCommand.run("swiftc", ["-parse", folder.path + "/" + file.path])
        }
    }

    @Test(
        "each manifest is valid, names the plug-in and has no placeholder left", arguments: PluginLanguage.allCases)
    func manifest(language: PluginLanguage) throws {
        let files = try PluginTemplate(language).files(name: "acme2")
        let text = try #require(files.first { $0.path == "acme2.inlet.json" }).text
        let manifest = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(manifest["name"] as? String == "acme2")
        #expect((manifest["library"] == nil) != (manifest["command"] == nil))
        #expect(Set(files.map(\.path)).count == files.count)
        for file in files where !file.path.hasPrefix("inlet_plugin.") {
            #expect(!file.text.contains("@name@") && !file.text.contains("@type@"), "\(file.path)")
        }
    }

    @Test(
        "a name that cannot be a file, a scheme and a manifest's name is refused",
        arguments: [
            "", "A", "a b", "../a", "a/b", "1a", "a-", "-a", "a.b", "ä", "inlet", "a\u{0}",
            String(repeating: "a", count: 33),
        ])
    func names(name: String) throws {
        let error = try #require(throws: InletError.self) { try PluginTemplate(.c).files(name: name) }
        #expect(error.code == .invalidConfiguration)
    }

    @Test("an existing folder is neither filled nor changed")
    func overwriting() throws {
        let folder = try Folder(.python, name: "acme")
        defer { folder.remove() }
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        let error = try #require(throws: InletError.self) {
            try PluginTemplate(.c).write(name: "acme", to: folder.path)
        }
        #expect(error.code == .busy)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before)
        let absent = #expect(throws: InletError.self) {
            try PluginTemplate(.c).write(name: "acme", to: folder.path + "/absent/acme")
        }
        #expect(absent?.code == .notFound)
    }

    @Test("the written files are writable by their owner only, with any umask")
    func modes() throws {
        let folder = try Folder(.swift, name: "acme")
        defer { folder.remove() }
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let facts = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + path)
            let mode = try #require(facts[.posixPermissions] as? NSNumber).intValue
            #expect(mode & 0o022 == 0, "\(path)")
        }
    }

    /// A project in a separate folder.
    private struct Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("inlet-\(UUID().uuidString)").path

        init(_ language: PluginLanguage, name: String) throws {
            try PluginTemplate(language).write(name: name, to: path)
        }

        func remove() { try? FileManager.default.removeItem(atPath: path) }
    }
}
