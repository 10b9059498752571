import Foundation
import InletPluginLoader
import ReferenceTools

/// A C plug-in of this repository, compiled for a test.
struct CompiledPlugin {
    /// The library's path.
    let path: String
    /// A folder for the test's files. It is removed with the last copy of this value.
    let folder: TemporaryFolder

    /// - Parameter source: the path of the source from the package's root.
    init(_ source: String) throws {
        let root = BuiltProgram.package.path
        folder = try TemporaryFolder()
        path = folder.path("plugin.so")
        try ReferenceCommand.run(
            "cc",
            [
                "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-I\(root)/Sources/C/CInletPlugin/include", "-fPIC",
                "-fvisibility=hidden", "-shared", "-D_GNU_SOURCE", "-o", path, "\(root)/\(source)",
            ])
    }

    /// Returns the plug-in as Inlet runs it, with the `inlet-plugin-host` of the same build.
    func program(files: [String] = []) -> PluginProgram {
        PluginProgram(
            name: "compiled", code: .library(path), permissions: PluginPermissions(files: files),
            segmentLimit: 64 << 20, hostPath: BuiltProgram.plainPluginHost)
    }

    /// Returns a source of the plug-in.
    func source(
        _ options: [(name: String, value: String)] = [], isInProcess: Bool = false
    ) -> PluginSourceConfiguration {
        PluginSourceConfiguration(
            program: program(), isInProcess: isInProcess, scheme: "compiled", address: "", options: options,
            redactedURI: "compiled:")
    }

    /// Returns a sink of the plug-in that writes to a file, which is created if it doesn't exist.
    func sink(toNew file: String, isInProcess: Bool = false) -> PluginSinkConfiguration {
        var sink = sink(to: file, isInProcess: isInProcess)
        sink.program.permissions.files = []
        sink.program.newFiles = [file]
        return sink
    }

    /// Returns a sink of the plug-in that writes to a file.
    func sink(
        to file: String, _ options: [(name: String, value: String)] = [], isInProcess: Bool = false
    ) -> PluginSinkConfiguration {
        PluginSinkConfiguration(
            program: program(files: [file]), isInProcess: isInProcess, scheme: "compiled", address: "",
            options: [("to", file)] + options, redactedURI: "compiled:")
    }
}
