import Glibc
import InletCore
import InletPluginLoader

/// Measures the cost of passing a picture from a plug-in, without filling it, and prints a JSON object.
///
///     plugin-benchmark LIBRARY frames COUNT    pictures as fast as they come, in rounds
///     plugin-benchmark LIBRARY live SECONDS    eight sources of 1080p at 30 frames a second, through the bridge
///
/// The library is compiled from `Tests/TestPlugins/empty.c`, which doesn't fill pictures. The result is the user and
/// kernel processor time of this process and its children together.
@main enum PluginBenchmark {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 4, let number = Int(words[3]), number > 0, ["frames", "live"].contains(words[2]) else {
            print("usage: plugin-benchmark LIBRARY frames COUNT | live SECONDS")
            exit(64)
        }
        let figures =
            words[2] == "frames"
            ? try PictureCosts.measure(words[1], frames: number)
            : try await LiveCosts.measure(words[1], seconds: number)
        print("{" + figures.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}")
    }

    /// Returns a source of a library.
    static func configuration(
        _ library: String, isInProcess: Bool, _ options: [(name: String, value: String)] = []
    ) -> PluginSourceConfiguration {
        PluginSourceConfiguration(
            program: PluginProgram(name: "empty", code: .library(library)), isInProcess: isInProcess, scheme: "empty",
            address: "", options: options, redactedURI: "empty:")
    }
}
