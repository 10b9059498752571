import Foundation

/// A program of this package, as it was built with the tests.
public enum BuiltProgram {
    /// The path of `inlet`: beside the test bundle, where the package manager builds both.
    public static let inlet: String = {
        let bundle =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        let folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        let beside = folder.appendingPathComponent("inlet").path
        if FileManager.default.isExecutableFile(atPath: beside) { return beside }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return root.appendingPathComponent(".build/debug/inlet").path
    }()
}
