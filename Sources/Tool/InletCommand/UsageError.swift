import ArgumentParser
import Inlet

/// The text of an error that the argument parser found.
enum UsageError {
    /// Returns the text with the beginning that all errors of the command have. If the first argument is not a command,
    /// the text names the one that was probably meant.
    ///
    /// - Parameters:
    ///   - message: the parser's message, which begins with `Error: `.
    ///   - arguments: those of the process, without its name.
    static func text(_ message: String, arguments: some Collection<String>) -> String {
        let names = InletCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let first = arguments.first, !first.hasBytePrefix("-"), !(names + ["help"]).contains(first) else {
            return message.replacing("Error: ", with: "error: ", maxReplacements: 1)
        }
        let isSource = ["/", ":", "."].contains { first.containsBytes($0) }
        let hint = Spelling.nearest(to: String(first.prefix(64)), among: names).map { "Did you mean '\($0)'? " } ?? ""
        // A password that is cut off in the middle could no longer be recognized.
        let shown = Redaction.redact(first).sanitized(limit: 80)
        return "error: There is no command '\(shown)'. "
            + (isSource
                ? "To read a source, write 'inlet run SOURCE'." : "\(hint)'inlet --help' lists all commands.")
    }
}
