import ArgumentParser
public import Inlet
import InletServe
import Logging

/// The command `inlet` as a function, for a program that adds its own plug-ins:
///
///     @main
///     enum MyInlet {
///         static func main() async {
///             var registry = PluginRegistry.standard
///             registry.register(SourcePlugin.mine)
///             await InletTool.main(registry)
///         }
///     }
public enum InletTool {
    /// The plug-ins of the running command.
    @TaskLocal static var registry = PluginRegistry.standard

    /// Runs the command that the arguments of the process name, and ends the process with its exit status.
    ///
    /// It takes over the process: it sets up the log, ignores SIGPIPE, and reads the options of URIs with the
    /// privileges of the user, because these were written at the terminal.
    ///
    /// - Parameter registry: the plug-ins of the command. The default is all plug-ins of Inlet.
    public static func main(_ registry: PluginRegistry = .standard) async -> Never {
        Terminal.ignoreBrokenPipes()
        // A child of `inlet serve` that runs the source of one camera.
        await SourceServer.runIfAsked { Self.$registry.withValue(registry) { .command } }
        LoggingSystem.bootstrap { label in
            // The commands report errors themselves, and only servers know their address.
            let isHeard = ["inlet.serve", "inlet.preview", "inlet.signal", "inlet.webrtc"].contains(label)
            return SwitchedLogHandler(
                StreamLogHandler.standardError(label: label), usual: isHeard ? .notice : .warning)
        }
        do {
            let command = try InletCommand.parseAsRoot()
            try await Self.$registry.withValue(registry) { try await run(command) }
            InletCommand.exit()
        } catch let error as InletError {
            // The message may quote an address that was typed in the wrong place.
            let text = Redaction.redact("\(error)")
            Terminal.writeError("error: \(text)\n" + ErrorExplanation.hint(for: error.code.description))
            InletCommand.exit(withError: ExitCode(ExitStatus(error).rawValue))
        } catch {
            // A mistyped line may contain a password, and the message quotes it.
            let message = InletCommand.fullMessage(for: error)
            guard !InletCommand.exitCode(for: error).isSuccess, !message.isEmpty else {
                InletCommand.exit(withError: error)
            }
            let text = UsageError.text(message, arguments: CommandLine.arguments.dropFirst())
            Terminal.writeError(Redaction.redact(text) + "\n")
            InletCommand.exit(withError: InletCommand.exitCode(for: error))
        }
    }

    private static func run(_ command: any ParsableCommand) async throws {
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            var command = command
            try command.run()
        }
    }
}
