import Foundation
import ReferenceTools
import Testing

/// The samples of plug-ins, built as their READMEs say and run by the command, which knows nothing of them.
@Suite struct PluginSamplesTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["", "plugins", "home"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path(name))
        }
    }

    private func inlet(_ arguments: [String]) throws -> (status: Int32, lines: FrameLines, complaints: String) {
        let environment = [
            "INLET_PLUGIN_PATH": folder.path("plugins"), "HOME": folder.path("home"),
            "XDG_CACHE_HOME": folder.path("home"),
        ]
        let result = try InletProcess.run(arguments, environment: environment)
        return (result.status, FrameLines(result.output), result.complaints)
    }

    /// Copies files of the package into the folder of plug-ins, as an installation does.
    private func install(_ files: [String]) throws {
        for file in files {
            let copy = folder.path("plugins/\((file as NSString).lastPathComponent)")
            try FileManager.default.copyItem(atPath: BuiltProgram.package.appending(path: file).path, toPath: copy)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy)
        }
    }

    private func compile(_ source: String) throws {
        let package = BuiltProgram.package.path
        let name = ((source as NSString).lastPathComponent as NSString).deletingPathExtension
        _ = try ReferenceCommand.run(
            "cc",
            [
                "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-I", "\(package)/Sources/CInletPlugin/include",
                "-fPIC", "-fvisibility=hidden", "-shared", "-o", folder.path("plugins/\(name).so"),
                "\(package)/\(source)",
            ])
    }

    @Test("A source in C gives the same pictures in a process of its own and in that of the command")
    func bars() throws {
        try compile("Samples/CSource/bars.c")
        try install(["Samples/CSource/bars.inlet.json"])
        let run = ["run", "bars:?size=162x90&rate=100", "--frames", "5", "--report", "none", "--to", "framemd5:-"]
        let own = try inlet(run)
        #expect(own.status == 0 && own.lines.lines.count == 5, "\(own.complaints)")
        #expect(Set(own.lines.lines.map(\.md5)).count > 1)
        let inside = try inlet(run + ["--in-process", "bars"])
        #expect(inside.status == 0, "\(inside.complaints)")
        #expect(inside.lines.lines.map(\.md5) == own.lines.lines.map(\.md5))
    }

    @Test("Packets of a plug-in are decoded as ffmpeg decodes the file, and may read that file alone")
    func packets() throws {
        try compile("Samples/PacketSource/annexb.c")
        try install(["Samples/PacketSource/annexb.inlet.json"])
        let clip = folder.path("clip.h264")
        _ = try ReferenceCommand.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=162x90:rate=25", "-frames:v", "12", "-pix_fmt", "yuv420p", "-c:v",
            "libx264", "-bf", "0", "-g", "6", "-y", clip,
        ])
        let run = try inlet([
            "run", "annexb:?file=\(clip)&rate=100", "--report", "none", "--to", "framemd5:-", "--queue", "lossless",
        ])
        #expect(run.status == 0, "\(run.complaints)")
        #expect(run.lines.lines.map(\.md5) == (try FrameLines.ffmpeg(clip)).lines.map(\.md5))
    }

    @Test("A source in Python runs as a command, in the same sandbox")
    func python() throws {
        try install([
            "Samples/PythonSource/spectrum.inlet.json", "Samples/PythonSource/spectrum.py",
            "Python/inlet_plugin/inlet_plugin.py",
        ])
        let run = try inlet([
            "run", "spectrum:?size=160x90&rate=100", "--frames", "5", "--report", "none", "--to", "framemd5:-",
        ])
        #expect(run.status == 0, "\(run.complaints)")
        #expect(Set(run.lines.lines.map(\.md5)).count == 5)
    }

    @Test("The Python package keeps to the C headers, and to the protocol")
    func pythonPackage() throws {
        _ = try ReferenceCommand.run(
            "/usr/bin/python3",
            ["-B", "-m", "unittest", "discover", BuiltProgram.package.appending(path: "Tests/PythonPlugin").path])
    }
}
