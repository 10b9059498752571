import Inlet

/// Runs one of the documents' Swift examples in the current folder, which holds `clip.mp4`. The others are compiled,
/// too.
@main struct DocumentSnippets {
    static func main() async throws {
        let source = try PluginRegistry.standard.source("file:clip.mp4")
        switch CommandLine.arguments.dropFirst().first {
        case "README.md 1": try await Snippets.README_md_1()
        case "README.md 2":
            try await Snippets.README_md_2(source: source, encoder: PluginRegistry.standard.sink("y4m:small.y4m"))
        case "SECURITY.md 1": try await Snippets.SECURITY_md_1(uri: "rtsp://camera/stream")
        case let name: throw InletError(.notFound, "There is no example \(name ?? "") to run.")
        }
    }
}
