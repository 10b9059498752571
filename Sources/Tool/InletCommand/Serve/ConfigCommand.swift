import ArgumentParser
import Inlet
import InletServe

#if GStreamer
import InletRestream
#endif

/// The commands that work on a configuration without running its cameras.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Checks the configuration of inlet serve, or prints its JSON Schema.",
        subcommands: [ConfigCheckCommand.self, ConfigSchemaCommand.self])
}

struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Lists every mistake in a configuration, with its line, its column and a correction.",
        discussion: """
            Opens no camera and no sink. Exits with 0 if the configuration is valid, and with 65 if it is not.

              inlet config check cameras.yaml
            """)

    @Argument(help: "The file.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    func run() throws {
        do throws(ConfigurationProblems) {
            let read = try ConfigurationReader.command.read(path: file)
            do throws(InletError) {
                _ = try read.server.tls?.load()
            } catch {
                throw ConfigurationProblems([.init(error.description, at: .none, path: "server.tls")])
            }
            let sinks = read.cameras.values.reduce(0) { $0 + $1.sinks.count }
            let cameras = "\(read.cameras.count) \(read.cameras.count == 1 ? "camera" : "cameras")"
            Terminal.writeOutput("\(file): \(cameras), \(sinks) \(sinks == 1 ? "sink" : "sinks"), nothing wrong\n")
        } catch {
            Terminal.writeError(error.list.map { "\(file): \($0)\n" }.joined())
            throw ExitCode(ExitStatus.badData.rawValue)
        }
    }
}

struct ConfigSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Prints the JSON Schema of configurations, for editors.",
        discussion: """
              inlet config schema > inlet-serve.schema.json
            """)

    func run() throws { Terminal.writeOutput(ConfigurationSchema.text + "\n") }
}

extension ConfigurationReader {
    /// The reader with the plug-ins of the command and the privileges of its user.
    static var command: ConfigurationReader {
        ConfigurationReader(
            registry: .command, credentials: ServiceEnvironment.credentials, makeProcess: makeProcess,
            makeWebRTC: makeWebRTC, makeRestream: makeRestream)
    }

    /// Runs sources in child processes of this executable.
    private static let makeProcess: CameraProcess.Maker? = { request in
        let configuration = SourceProcessConfiguration(
            request.uri, redactedURI: request.redactedURI, name: request.camera, memoryLimit: request.memoryLimit)
        let figures = configuration.figures
        return CameraProcess(configuration: configuration) {
            CameraProcess.Figures(processID: figures.processID, starts: figures.starts)
        }
    }

    #if GStreamer
    private static let makeWebRTC: CameraWebRTCRequest.Maker? = { request throws(InletError) in
        try WHEPHost(request)
    }
    private static let makeRestream: RestreamRequest.Maker? = { request throws(InletError) in
        try RTSPRestreamServer(request)
    }
    #else
    private static let makeWebRTC: CameraWebRTCRequest.Maker? = nil
    private static let makeRestream: RestreamRequest.Maker? = nil
    #endif
}
