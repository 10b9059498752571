import ArgumentParser
import Inlet
import Logging

struct CaptureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Records the data that an RTSP server sends, with its timing, for bug reports.",
        discussion: """
            Play the file with rtspcap:FILE. It contains the pictures, and the names and addresses of hosts. \
            Passwords, session numbers, nonces and the parameters of addresses are masked.

            Examples:

              inlet capture rtsp://camera/stream --to camera.rtspcap --duration 20
              inlet capture 'rtsp://viewer@camera/stream?password-env=CAMERA&transport=udp' --to camera.rtspcap
              inlet run rtspcap:camera.rtspcap --to framemd5:-
              inlet run 'rtspcap:camera.rtspcap?pace=realtime' --to preview:
            """)

    /// Enough for half an hour of most cameras.
    private static let defaultSize: UInt64 = 1 << 30

    @Argument(help: "The address, rtsp: or rtsps:, with the options of `inlet run`.")
    var source: String

    @Option(name: .customLong("to"), help: "The file; - is standard output.", completion: .file())
    var output: String

    @Option(help: "End after this time, such as 20, 1.5s or 10m.", transform: { try RunCommand.time($0, "--duration") })
    var duration: Duration?

    @Option(
        name: .customLong("max-size"), help: "End before the file exceeds N bytes. The default is 1 GiB.",
        transform: { try RunCommand.positive($0, "--max-size") })
    var maximumSize = Self.defaultSize

    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Option(help: "The report on standard error at the end: json, text or none.")
    var report = ReportStyle.text

    func run() async throws {
        guard var source = try PluginRegistry.command.source(source) as? RTSPConfiguration else {
            throw InletError(
                .invalidConfiguration,
                "inlet capture takes only addresses of rtsp: or rtsps:, such as rtsp://camera/stream.")
        }
        let file = try CaptureFileOutput(output, limit: maximumSize, overwrites: overwrite)
        source.capture = CaptureOutput { file.write($0) }
        var configuration = CapturerConfiguration()
        // A retry would hide the failure that the file should show.
        configuration.retry = .never
        configuration.endsWithoutSinks = true
        configuration.logger = Logger(label: "inlet") { _ in SwiftLogNoOpLogHandler() }
        let capturer = Capturer(source, configuration: configuration)
        let meter = PacketMeter()
        capturer.attach(meter)
        file.onLimit { capturer.stop() }

        let interrupted = InterruptFlag()
        let outcome = await Self.run(capturer, for: duration, interrupted: interrupted) {
            "\(file.size / 1024) KiB  \(meter.packets) pictures"
        }
        var error: InletError?
        var end = CaptureReport.End.streamEnded
        switch outcome {
        case .success(.cancelled), .success(.durationLimit), .success(.noSinks), .success(.frameLimit):
            end = file.isFull ? .sizeLimit : interrupted.isRaised ? .interrupted : .durationLimit
        case .success(.endOfStream): break
        case .failure(let failure): (end, error) = (.failed, failure)
        }
        do throws(InletError) { try file.finish() } catch let failure { (end, error) = (.failed, error ?? failure) }
        report.write(
            CaptureReport(
                bytes: file.size, pictures: meter.packets, keyPictures: meter.keys, ended: end,
                error: error.map { RunReport.Failure(code: $0.code.description, message: $0.description) }))
        if let error { throw ExitCode(ExitStatus(error).rawValue) }
        if interrupted.isRaised { throw ExitCode(ExitStatus.interrupted.rawValue) }
    }

    /// Runs with a status line, until the time is over or Ctrl-C is pressed.
    private static func run(
        _ capturer: Capturer, for duration: Duration?, interrupted: InterruptFlag,
        status: @escaping @Sendable () -> String
    ) async -> Result<EndReason, InletError> {
        let interrupt = Interrupt {
            interrupted.raise()
            capturer.stop()
        }
        let timer = duration.map { duration in
            Task {
                try await Task.sleep(for: duration)
                capturer.stop()
            }
        }
        let line = Terminal.isInteractive ? Task { await show(status) } : nil
        let outcome: Result<EndReason, InletError>
        do throws(InletError) {
            outcome = .success(try await capturer.run())
        } catch {
            outcome = .failure(error)
        }
        timer?.cancel()
        line?.cancel()
        await line?.value
        withExtendedLifetime(interrupt) {}
        return outcome
    }

    private static func show(_ status: @Sendable () -> String) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(200))
            Terminal.writeError("\r\u{1B}[K" + status())
        }
        Terminal.writeError("\r\u{1B}[K")
    }
}
