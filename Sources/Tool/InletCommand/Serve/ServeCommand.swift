import ArgumentParser
import Inlet
import InletRTSP
import InletServe
import InletSystem
import Logging
import RTSPSource

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract:
            "Runs many cameras from a configuration, with a page and an API. A change affects only its camera.",
        discussion: """
            The smallest useful configuration has two lines:

              cameras:
                door: rtsp://camera/main

            Its page is at http://127.0.0.1:8080. The configuration is read again when its file changes and on SIGHUP; \
            an invalid configuration changes nothing. SIGTERM and SIGINT finish all recordings. Examples:

              inlet config check cameras.yaml
              inlet serve cameras.yaml
            """)

    @Argument(help: "The configuration, a YAML file.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    @Option(
        help: ArgumentHelp(
            "The file for changes made by the API. The default is the configuration's path followed by .changes.json.",
            valueName: "file"), completion: .file(extensions: ["json"]))
    var changes: String?

    @Option(
        help: "The lowest level of logged messages: trace, debug, info, notice, warning, error or critical.",
        completion: .list(Logger.Level.allCases.map(\.rawValue)), transform: { try Self.level($0) })
    var logLevel = Logger.Level.notice

    func run() async throws {
        Allocator.keepFlat()
        LogLevelSwitch.level = logLevel
        let reader = ConfigurationReader.command
        do {
            try await Daemon.run(path: file, overlayPath: changes, reader: reader, search: Self.search)
        } catch let error as ConfigurationProblems {
            Terminal.writeError(error.list.map { "\(file): \($0)\n" }.joined())
            throw ExitCode(ExitStatus.badData.rawValue)
        }
    }

    /// Searches for ONVIF cameras as `inlet discover` does.
    private static let search = CameraSearch { time in
        do throws(InletError) {
            return .success(try found(within: time))
        } catch {
            return .failure(error)
        }
    }

    private static func found(within time: Duration) throws(InletError) -> FoundCameras {
        var discovery = DeviceDiscovery()
        discovery.timeout = time
        let (answers, troubles) = try discovery.run()
        let cameras = answers.devices.map { device in
            var sources: [String] = []
            for source in device.services.map({ source(at: $0.serviceText) }) where !sources.contains(source) {
                sources.append(source)
            }
            return FoundCamera(
                name: device.name, hardware: device.hardware, location: device.location, addresses: device.addresses,
                sources: sources)
        }
        let more = answers.isCut ? ["Too many answers; some are missing."] : []
        return FoundCameras(cameras: cameras, troubles: troubles + more)
    }

    /// Returns the URI of the source whose device service is at an HTTP address.
    private static func source(at service: String) -> String {
        let suffix = String(decoding: RTSPURL.deviceService, as: UTF8.self)
        let address = service.hasByteSuffix(suffix) ? service.dropLast(suffix.utf8.count) + "/" : service[...]
        return address.hasBytePrefix("https:") ? "onvifs" + address.dropFirst(5) : "onvif" + address.dropFirst(4)
    }

    private static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else {
            let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--log-level takes one of \(names), not '\(text)'.")
        }
        return level
    }
}
