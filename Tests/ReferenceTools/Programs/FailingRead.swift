import Foundation

/// A preloaded library, `Tests/Faults/failing-read.c`, that makes reads of one file fail from an offset on.
public struct FailingRead {
    private let library: String

    /// Builds the library with Swift's C compiler.
    ///
    /// - Throws: ``ReferenceCommand/Failure``.
    public init(in folder: TemporaryFolder) throws {
        library = folder.path("failing-read.so")
        try ReferenceCommand.run(
            "clang",
            [
                "-O2", "-Wall", "-Wextra", "-fPIC", "-shared",
                BuiltProgram.package.appendingPathComponent("Tests/Faults/failing-read.c").path, "-o", library,
            ])
    }

    /// Returns the prefix for a shell command whose reads of `path` fail with `code` from the byte `offset` on.
    public func environment(path: String, from offset: Int, code: Int32) -> String {
        "LD_PRELOAD='\(library)' FAILING_FILE='\(path)' FAILING_FROM=\(offset) FAILING_ERRNO=\(code)"
    }
}
