import ArgumentParser
import Inlet
import InletServe
import Logging

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract:
            "Runs many cameras by a configuration, with a page, an API, and changes that disturb no other camera.",
        discussion: """
            The smallest useful configuration has two lines:

              cameras:
                door: rtsp://camera/main

            The page is at http://127.0.0.1:8080 then. The configuration is read again when its file changes and on \
            SIGHUP; what is wrong in it changes nothing. SIGTERM and SIGINT finish all recordings. Examples:

              inlet config check cameras.yaml
              inlet serve cameras.yaml
            """)

    @Argument(help: "The configuration, a file of YAML.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    @Option(
        help: ArgumentHelp(
            "Where changes by the API are kept. The default is the configuration's path with .changes.json after it.",
            valueName: "file"))
    var changes: String?

    @Option(
        help: "From which level on messages are logged: trace, debug, info, notice, warning, error or critical.",
        transform: { try Self.level($0) })
    var logLevel = Logger.Level.notice

    func run() async throws {
        LogLevelSwitch.level = logLevel
        let reader = ConfigurationReader.command
        do {
            try await Daemon.run(path: file, overlayPath: changes, reader: reader)
        } catch let error as ConfigurationProblems {
            Terminal.writeError(error.list.map { "\(file): \($0)\n" }.joined())
            throw ExitCode(ExitStatus.badData.rawValue)
        }
    }

    private static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else {
            let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--log-level takes one of \(names), not '\(text)'.")
        }
        return level
    }
}
