import ArgumentParser
import Inlet

/// Creates the project of a new plug-in.
struct NewPluginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Creates a small plug-in project that builds without changes.",
        discussion: """
            Creates a folder with a source that shows a test picture, its manifest, and a README.md that explains \
            how to build and install it. Existing files are not touched. Examples:

              inlet plugins new acme-camera --language c
              inlet plugins new acme-camera --language python --folder ~/projects/acme
            """)

    @Argument(help: "The plug-in's name and scheme: lower-case letters, digits and hyphens.")
    var name: String

    @Option(
        help: "The language: \(languages).", completion: .list(PluginLanguage.allCases.map(\.rawValue)),
        transform: Self.language)
    var language: PluginLanguage

    @Option(
        help: ArgumentHelp("The folder to create. The default is the name.", valueName: "path"),
        completion: .directory)
    var folder: String?

    private static let languages = PluginLanguage.allCases.map(\.rawValue).joined(separator: ", ")

    private static func language(_ word: String) throws -> PluginLanguage {
        guard let language = PluginLanguage(rawValue: word) else {
            throw ValidationError("'\(word)' is not a language for a new plug-in. Use one of \(languages).")
        }
        return language
    }

    func run() throws {
        for path in try PluginTemplate(language).write(name: name, to: folder) { print(path) }
    }
}
