import ArgumentParser
import FoundationEssentials
import Inlet

/// The commands about plug-ins. Without another argument, it lists them.
struct PluginsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "Lists the sources, sinks and decoders, or every option of one.",
        discussion: """
            The list contains the plug-ins of Inlet and the installed ones, each of which has a NAME.inlet.json in one \
            of the folders of `inlet plugins path`. Examples:

              inlet plugins
              inlet plugins pattern
              inlet plugins --json
              inlet plugins path
              inlet plugins new acme --language c
              inlet plugins verify acme.so
            """,
        subcommands: subcommands, defaultSubcommand: PluginsListCommand.self)

    private static let subcommands: [any ParsableCommand.Type] = [
        PluginsListCommand.self, PluginsPathCommand.self, NewPluginCommand.self, VerifyPluginCommand.self,
    ]

    /// Returns a value as JSON in one line.
    static func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
