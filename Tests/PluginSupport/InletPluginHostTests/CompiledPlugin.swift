import Foundation
import ReferenceTools

/// A plug-in in C, compiled for a test. Its file is deleted with the last reference.
final class CompiledPlugin: Sendable {
    private let folder: TemporaryFolder
    /// The library.
    let path: String

    /// Compiles a file of `Tests/TestPlugins`, or another one of the package.
    ///
    /// - Parameters:
    ///   - macros: the definitions for the compiler, such as `MAJOR=2`.
    ///   - isProgram: whether it becomes a program rather than a library.
    init(_ name: String, in place: String = "Tests/TestPlugins", macros: [String] = [], isProgram: Bool = false) throws
    {
        folder = try TemporaryFolder()
        path = folder.path("\(name).so")
        try ReferenceCommand.run(
            "clang",
            ["-std=c11", "-Wall", "-Werror", "-O1", "-fPIC", "-fvisibility=hidden", "-o", path]
                + (isProgram ? [] : ["-shared"])
                + macros.map { "-D" + $0 }
                + [
                    "-I", BuiltProgram.package.appendingPathComponent("Sources/C/CInletPlugin/include").path,
                    BuiltProgram.package.appendingPathComponent(place).appendingPathComponent(name + ".c").path,
                ])
    }
}
