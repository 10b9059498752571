public import Foundation

/// A program of this package, built with the tests.
public enum BuiltProgram {
    /// The path of `inlet`.
    public static let inlet = path(of: "inlet")

    /// The path of `inlet-plugin-host`.
    public static let pluginHost = path(of: "inlet-plugin-host")

    /// The path of an `inlet-plugin-host` built without sanitizers: its sandbox forbids the memory and the system calls
    /// that a sanitizer needs. In a sanitized process this is the host of the plain build, which `Scripts/test` makes
    /// first.
    public static let plainPluginHost =
        isSanitized ? package.appendingPathComponent(".build/debug/inlet-plugin-host").path : pluginHost

    /// Whether this process runs under AddressSanitizer or ThreadSanitizer.
    private static let isSanitized =
        unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

    /// The folder of the package.
    public static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the path of a program next to the test bundle, where the package manager builds both.
    private static func path(of program: String) -> String {
        let bundle =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        let folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        let beside = folder.appendingPathComponent(program).path
        if FileManager.default.isExecutableFile(atPath: beside) { return beside }
        return package.appendingPathComponent(".build/debug/\(program)").path
    }
}
