import Foundation
import ReferenceTools
import Testing

/// `inlet plugins verify` with good plug-ins and with plug-ins that have one defect.
@Suite(.serialized, .tags(.process)) struct PluginVerificationTests {
    private struct Report: Decodable {
        struct Finding: Decodable {
            var check: String
            var outcome: String
            var text: String
        }
        var name: String
        var passed: Bool
        var findings: [Finding]

        var failures: [String: String] {
            Dictionary(
                findings.filter { $0.outcome == "failed" }.map { ($0.check, $0.text) },
                uniquingKeysWith: { first, _ in first })
        }
    }

    /// The expected result, from the first comment of a plug-in in `Tests/TestPlugins/Defects`.
    private struct Expectation {
        let name: String
        /// The check that must fail; nil for a good plug-in.
        let check: String?
        /// Other checks that may fail.
        let others: Set<String>
        let text: String

        init(_ file: URL) throws {
            name = file.deletingPathExtension().lastPathComponent
            let line = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").first ?? ""
            let pattern = /\/\* ([a-z-]+)(?: \(([a-z -]+)\))?: ?(.*?) ?\*\//
            let match = try #require(line.wholeMatch(of: pattern), "\(file.path)")
            check = match.output.1 == "none" ? nil : String(match.output.1)
            others = Set((match.output.2 ?? "").split(separator: " ").map(String.init))
            text = String(match.output.3)
        }
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["", "plugins", "home"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path(name))
        }
    }

    private var environment: [String: String] {
        [
            "INLET_PLUGIN_PATH": folder.path("plugins"), "HOME": folder.path("home"),
            "XDG_CACHE_HOME": folder.path("home"),
        ]
    }

    private func verify(_ arguments: String...) throws -> (status: Int32, output: String, complaints: String) {
        let result = try InletProcess.run(["plugins", "verify"] + arguments, environment: environment)
        return (result.status, String(decoding: result.output, as: UTF8.self), result.complaints)
    }

    /// Copies files of the package into the plug-in folder, as an installation does.
    private func install(_ files: [String]) throws {
        for file in files {
            let copy = folder.path("plugins/\((file as NSString).lastPathComponent)")
            try FileManager.default.copyItem(atPath: BuiltProgram.package.appending(path: file).path, toPath: copy)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy)
        }
    }

    private func compile(_ source: String) throws -> String {
        let package = BuiltProgram.package.path
        let name = ((source as NSString).lastPathComponent as NSString).deletingPathExtension
        let library = folder.path("plugins/\(name).so")
        _ = try ReferenceCommand.run(
            "cc",
            [
                "-std=c11", "-O2", "-I", "\(package)/Sources/C/CInletPlugin/include", "-fPIC", "-fvisibility=hidden",
                "-shared", "-o", library, "\(package)/\(source)",
            ])
        return library
    }

    @Test("Each defect fails its own check with a message that names it, and no other check")
    func defects() async throws {
        let sources = BuiltProgram.package.appending(path: "Tests/TestPlugins/Defects")
        // A verification spends most of its time waiting.
        _ = try await ReferenceCommand.runAside(
            "timeout",
            [
                "500", "make", "--silent", "-j8", "-C", sources.path, "OUT=\(folder.path("plugins"))",
                "INLET=env XDG_CACHE_HOME=\(folder.path("home")) \(InletProcess.path)",
            ])
        let files = try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "c" }
        #expect(files.count > 40)
        for file in files {
            let expected = try Expectation(file)
            let data = try Data(contentsOf: URL(filePath: folder.path("plugins/\(expected.name).json")))
            let report = try JSONDecoder().decode(Report.self, from: data)
            let failures = report.failures
            guard let check = expected.check else {
                #expect(report.passed && failures.isEmpty, "\(expected.name): \(failures)")
                continue
            }
            #expect(!report.passed, "\(expected.name)")
            #expect(failures[check]?.contains(expected.text) == true, "\(expected.name): \(failures)")
            #expect(Set(failures.keys).subtracting(expected.others) == [check], "\(expected.name): \(failures)")
        }
    }

    @Test("The C sample passes, by the path of its library and by its name")
    func bars() throws {
        let library = try compile("Samples/CSource/bars.c")
        try install(["Samples/CSource/bars.inlet.json"])
        let whole = try verify(library)
        #expect(whole.status == 0, "\(whole.output)\(whole.complaints)")
        #expect(whole.output.contains("checks passed"))
        let one = try verify("bars", "--check", "symbols", "--check", "sizes")
        #expect(one.status == 0)
        let lines = one.output.split(separator: "\n").map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(lines.dropLast().contains("ok symbols") && lines.dropLast().contains("ok sizes"), "\(one.output)")
    }

    @Test("The packet sample passes with a file, and without one states what it needs")
    func packets() throws {
        let library = try compile("Samples/PacketSource/annexb.c")
        try install(["Samples/PacketSource/annexb.inlet.json"])
        let clip = try makeClip()
        let run = try verify(library, "--uri", "annexb:?file=\(clip)")
        #expect(run.status == 0, "\(run.output)\(run.complaints)")
        #expect(run.output.contains("50 packets of h264"))
        let without = try verify(library)
        #expect(without.status == 1)
        #expect(without.output.contains("State a URI that works on this machine with --uri."))
    }

    private func makeClip() throws -> String {
        let clip = folder.path("clip.h264")
        _ = try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=162x90:rate=25", "-frames:v", "50", "-pix_fmt", "yuv420p", "-c:v",
            "libx264", "-bf", "0", "-g", "6", "-y", clip,
        ])
        return clip
    }

    private func writeManifest(_ name: String, _ text: String) throws -> String {
        let manifest = folder.path("plugins/\(name).inlet.json")
        try Data(text.utf8).write(to: URL(filePath: manifest))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: manifest)
        return manifest
    }

    @Test("A file in a manifest's example is not opened; one that the user names is")
    func examples() throws {
        let library = try compile("Samples/PacketSource/annexb.c")
        let clip = try makeClip()
        let sample = try String(
            contentsOf: BuiltProgram.package.appending(path: "Samples/PacketSource/annexb.inlet.json"), encoding: .utf8)
        let changed = sample.replacingOccurrences(of: "file=clip.h264", with: "file=\(clip)")
        #expect(changed != sample)
        _ = try writeManifest("annexb", changed)
        let run = try verify(library, "--check", "items")
        #expect(run.status == 1, "\(run.output)\(run.complaints)")
        #expect(run.output.contains("FAILED items"), "\(run.output)")
        let own = try verify(library, "--check", "items", "--uri", "annexb:?file=\(clip)")
        #expect(own.status == 0, "\(own.output)\(own.complaints)")
    }

    @Test("A file that the user names for a sink is created if it does not exist")
    func newFile() throws {
        let library = try compile("Tests/TestPlugins/writer.c")
        _ = try writeManifest(
            "writer",
            """
            {"inlet-plugin": 1, "name": "writer", "version": "1", "license": "MIT", "summary": "A writer.",
             "library": "writer.so", "sinks": [{"schemes": ["writer"], "usage": "writer:?to=PATH", "options": [
             {"name": "to", "type": "path", "access": "create", "summary": "The file."}]}]}
            """)
        let path = folder.path("samples")
        let run = try verify(library, "--check", "sink", "--uri", "writer:?to=\(path)")
        #expect(!run.output.contains("could be opened"), "\(run.output)\(run.complaints)")
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("The sinks of a command plug-in are not verified, and the output states so")
    func commandSink() throws {
        let manifest = try writeManifest(
            "tee",
            """
            {"inlet-plugin": 1, "name": "tee", "version": "1", "license": "MIT", "summary": "A command.",
             "command": ["true"], "sinks": [{"schemes": ["tee"], "usage": "tee:"}]}
            """)
        let run = try verify(manifest)
        #expect(run.status == 0, "\(run.output)\(run.complaints)")
        #expect(run.output.contains("The plug-in is a command"), "\(run.output)")
    }

    @Test("The Python sample passes")
    func python() throws {
        try install([
            "Samples/PythonSource/spectrum.inlet.json", "Samples/PythonSource/spectrum.py",
            "Python/inlet_plugin/inlet_plugin.py",
        ])
        let run = try verify(folder.path("plugins/spectrum.inlet.json"))
        #expect(run.status == 0, "\(run.output)\(run.complaints)")
    }

    @Test("A plug-in created by inlet plugins new passes unchanged", arguments: ["c", "cpp", "python"])
    func templates(language: String) throws {
        let project = folder.path("acme")
        let made = try InletProcess.run(["plugins", "new", "acme", "--language", language, "--folder", project])
        #expect(made.status == 0, "\(made.complaints)")
        if language != "python" { _ = try ReferenceCommand.run("make", ["-C", project]) }
        let run = try verify("\(project)/acme.inlet.json")
        #expect(run.status == 0, "\(run.output)\(run.complaints)")
    }

    @Test("An unreadable manifest, and files that others may change, are findings")
    func files() throws {
        let library = try compile("Samples/CSource/bars.c")
        let manifest = folder.path("plugins/bars.inlet.json")
        try Data("{\"inlet-plugin\": 1}".utf8).write(to: URL(filePath: manifest))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: manifest)
        let unreadable = try verify(library)
        #expect(unreadable.status == 1)
        #expect(unreadable.output.contains("FAILED manifest") && unreadable.output.contains("name: it is missing"))
        try FileManager.default.removeItem(atPath: manifest)
        try install(["Samples/CSource/bars.inlet.json"])
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: library)
        let writable = try verify(library)
        #expect(writable.status == 1)
        #expect(writable.output.contains("FAILED files") && writable.output.contains("chmod go-w"))
    }

    @Test("The exit code distinguishes misuse from a failure")
    func misuse() throws {
        #expect(try verify().status == 64)
        #expect(try verify("bars", "--check", "leeks").complaints.contains("Did you mean 'leaks'?"))
        #expect(try verify("no-such-plugin").status == 66)
        _ = try compile("Samples/CSource/bars.c")
        try install(["Samples/CSource/bars.inlet.json"])
        let foreign = try verify("bars", "--uri", "file:clip.mp4")
        #expect(foreign.status == 64 && foreign.complaints.contains("has no scheme 'file:'"))
        #expect(try verify("bars", "--in-process", "bars").status == 64)
        #expect(try verify("bars", "--plugin-updates", "off").status == 64)
        let list = try verify("--list")
        #expect(list.status == 0 && list.output.split(separator: "\n").count > 15)
    }

    @Test("The command ends soon after SIGINT")
    func interruption() throws {
        let library = try compile("Samples/CSource/bars.c")
        try install(["Samples/CSource/bars.inlet.json"])
        let run = try InletProcess.shell(
            "XDG_CACHE_HOME=\(folder.path("home")) timeout -s INT 2 \"$INLET\" plugins verify \(library) --check leaks; "
                + "echo \"exit $?\"")
        #expect(String(decoding: run.output, as: UTF8.self).contains("exit 124"))
        #expect(run.complaints.isEmpty || run.complaints.contains("stopped"), "\(run.complaints)")
    }
}
