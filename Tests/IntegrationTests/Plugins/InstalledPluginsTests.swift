import Foundation
import ReferenceTools
import Testing

/// The command's handling of installed plug-ins before any of their code runs.
@Suite(.blocking) struct InstalledPluginsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["", "plugins", "home"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path(name))
        }
    }

    private func inlet(_ arguments: String...) throws -> (status: Int32, output: String, complaints: String) {
        let environment = [
            "INLET_PLUGIN_PATH": folder.path("plugins"), "HOME": folder.path("home"),
            "XDG_CACHE_HOME": folder.path("home"),
        ]
        let result = try InletProcess.run(arguments, environment: environment)
        return (result.status, String(decoding: result.output, as: UTF8.self), result.complaints)
    }

    private func install(_ name: String, scheme: String, library: String = "none.so") throws {
        let file = folder.path("plugins/\(name).inlet.json")
        let text = """
            {"inlet-plugin": 1, "name": "\(name)", "version": "1", "license": "MIT", "summary": "S",
             "library": "\(library)", "sources": [{"schemes": ["\(scheme)"], "usage": "\(scheme):"}]}
            """
        try Data(text.utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    }

    @Test("The list ends with the unusable plug-ins and the reasons, and still succeeds")
    func list() throws {
        try install("acme", scheme: "acme")
        try Data("{".utf8).write(to: URL(filePath: folder.path("plugins/cut.inlet.json")))
        let (status, output, _) = try inlet("plugins")
        #expect(status == 0)
        let lines = output.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("source  pattern:") })
        #expect(lines.suffix(2).allSatisfy { $0.hasPrefix("broken ") })
        #expect(lines.suffix(2).first?.contains("There is no file \(folder.path("plugins/none.so"))") == true)
        #expect(lines.last?.contains("line 1: a key in quotation marks is expected") == true)
    }

    @Test("The JSON list has everything, and the description of one plug-in is an array")
    func json() throws {
        struct Listing: Decodable {
            struct Plugin: Decodable {
                var kind: String
                var name: String
                var schemes: [String]
            }
            struct Broken: Decodable {
                var name: String
                var code: String
            }
            var plugins: [Plugin]
            var broken: [Broken]
        }
        try install("acme", scheme: "acme")
        let all = try JSONDecoder().decode(Listing.self, from: Data(try inlet("plugins", "--json").output.utf8))
        #expect(all.plugins.contains { $0.kind == "source" && $0.schemes == ["pattern"] })
        #expect(all.broken.map(\.name) == ["acme"])
        #expect(all.broken.map(\.code) == ["notFound"])
        let one = try JSONDecoder().decode(
            [Listing.Plugin].self, from: Data(try inlet("plugins", "v4l2:", "--json").output.utf8))
        #expect(one.map(\.kind) == ["source", "sink"])
    }

    @Test("The folders are printed in order, whether or not they exist")
    func path() throws {
        let (status, output, _) = try inlet("plugins", "path")
        #expect(status == 0)
        let lines = output.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines.first.map(String.init) == folder.path("plugins"))
        #expect(lines[1] == "\(folder.path("home/.local/lib/inlet"))  (does not exist)")
    }

    @Test("A scheme that two plug-ins offer is an error that names both")
    func conflict() throws {
        try install("acme", scheme: "cam")
        try install("bars", scheme: "cam")
        let (status, _, complaints) = try inlet("run", "cam:")
        #expect(status == 64)
        #expect(complaints.contains("acme and bars"))
        let (_, output, _) = try inlet("plugins")
        #expect(output.contains("The plug-ins acme and bars both offer a source 'cam:'"))
    }

    @Test("An installed plug-in neither blocks nor replaces a built-in scheme")
    func own() throws {
        try install("pattern", scheme: "pattern")
        let (status, _, complaints) = try inlet("run", "pattern:", "--frames", "2", "--report", "none")
        #expect(status == 0)
        #expect(complaints.isEmpty)
        let (_, output, _) = try inlet("plugins")
        #expect(output.contains("The scheme 'pattern:' is Inlet's own"))
    }

    @Test(
        "Choosing a plug-in or a layer that does not exist is an error",
        arguments: [
            ["--in-process", "acne"], ["--plugin-without", "acne:landlock"], ["--plugin-without", "acme:all"],
            ["--plugin-without", "acme"],
        ])
    func choices(_ options: [String]) throws {
        try install("acme", scheme: "acme")
        let environment = ["INLET_PLUGIN_PATH": folder.path("plugins")]
        let result = try InletProcess.run(["run", "pattern:", "--frames", "1"] + options, environment: environment)
        #expect(result.status == 64)
    }
}
