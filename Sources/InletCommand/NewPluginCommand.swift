import ArgumentParser
import Inlet

#if os(Linux)
    /// Starts a new plug-in.
    struct NewPluginCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new",
            abstract: "Writes the beginning of a plug-in: a small project that builds as it is.",
            discussion: """
                Makes a folder with a source that shows a test picture, its manifest, and a README.md that says how to \
                build and install it. What is there already is not touched. Examples:

                  inlet plugins new acme-camera --language c
                  inlet plugins new acme-camera --language python --folder ~/projects/acme
                """)

        @Argument(help: "The plug-in's name and scheme: lower-case letters, digits and hyphens.")
        var name: String

        @Option(help: "The language: \(languages).", transform: Self.language)
        var language: PluginLanguage

        @Option(help: ArgumentHelp("The folder to make. The default is the name.", valueName: "path"))
        var folder: String?

        private static let languages = PluginLanguage.allCases.map(\.rawValue).joined(separator: ", ")

        private static func language(_ word: String) throws -> PluginLanguage {
            guard let language = PluginLanguage(rawValue: word) else {
                throw ValidationError("'\(word)' is not a language for a new plug-in. Take one of \(languages).")
            }
            return language
        }

        func run() throws {
            for path in try PluginTemplate(language).write(name: name, to: folder) { print(path) }
        }
    }
#endif
