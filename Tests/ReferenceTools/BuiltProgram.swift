public import Foundation

/// A program of this package, as it was built with the tests.
public enum BuiltProgram {
    /// The path of `inlet`.
    public static let inlet = path(of: "inlet")

    /// The path of `inlet-plugin-host`.
    public static let pluginHost = path(of: "inlet-plugin-host")

    /// The path of an `inlet-plugin-host` that no sanitizer has changed: its sandbox allows neither the memory nor the
    /// system calls that one needs. Where this process is sanitized it is that of the plain build, which
    /// `Scripts/test` makes first.
    public static let plainPluginHost =
        isSanitized ? package.appendingPathComponent(".build/debug/inlet-plugin-host").path : pluginHost

    /// Whether this process runs under AddressSanitizer or ThreadSanitizer.
    private static let isSanitized =
        unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

    /// The folder of the package.
    public static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the path of a program: beside the test bundle, where the package manager builds both.
    private static func path(of program: String) -> String {
        let bundle =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        let folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        let beside = folder.appendingPathComponent(program).path
        if FileManager.default.isExecutableFile(atPath: beside) { return beside }
        return package.appendingPathComponent(".build/debug/\(program)").path
    }
}
