import ArgumentParser
import FoundationEssentials
import Inlet
import Logging

struct LatencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Measures the delay of pictures, the number lost, and the accuracy of their timestamps.",
        discussion: """
            The source shows pattern:timecode, whose pictures contain the time when they were drawn, by the clock of \
            this machine: a stream of `inlet run pattern:timecode`, or a path through a sink and back (--via). The \
            delay is measured from drawing a picture to having it decoded as I420. With --screen, a page shows the \
            time instead and a camera films it: the delay is measured from drawing on the page to the camera's \
            decoded picture.

            Examples:

              inlet latency rtsp://127.0.0.1:8554/timecode
              inlet latency --via udp://127.0.0.1:5004 --duration 20 --plot udp.svg
              inlet latency --via rtmp://server/live/test --json
              inlet latency 'pattern:timecode?size=1920x1080&fps=60' --via v4l2:/dev/video40
              inlet latency --via webrtc:
              inlet latency v4l2: --screen
            """)

    private static let defaultPattern = "pattern:timecode?size=640x480&fps=30"
    private static let defaultDuration = Duration.seconds(10)
    private static let defaultWarmUp = Duration.seconds(1)
    private static let defaultTimeout = Duration.seconds(20)

    @Argument(
        help: "A source that shows the pattern; with --via the source that is sent, by default \(Self.defaultPattern).")
    var source: String?

    @Option(help: "A sink URI: pictures are sent through it and received from the same address, or from --from.")
    var via: String?

    @Option(help: "With --via, the source URI to receive from, if it is not the same address.")
    var from: String?

    @Flag(help: "Show the time on a page, which the source, a camera, films.")
    var screen = false

    @Option(
        help: ArgumentHelp(
            "The address of that page. The default is \(LatencyScreen.defaultAddress).", valueName: "host:port"))
    var screenAddress: String?

    @Option(
        help: "How long to measure. The default is \(Self.defaultDuration.optionText).",
        transform: { try RunCommand.time($0, "--duration") })
    var duration = Self.defaultDuration

    @Option(help: "End after N pictures, if that comes first.", transform: { try RunCommand.positive($0, "--frames") })
    var frames: UInt64?

    @Option(
        help:
            "How long to ignore pictures at the start, because waiting ones arrive all at once. The default is \(Self.defaultWarmUp.optionText).",
        transform: { text in
            guard let time = Duration(optionText: text), time >= .zero else {
                throw ValidationError("--warm-up takes a time of zero or more such as 0, 1.5s or 500ms, not '\(text)'.")
            }
            return time
        })
    var warmUp = Self.defaultWarmUp

    @Option(
        help: "How long to wait for a picture with a code. The default is \(Self.defaultTimeout.optionText).",
        transform: { try RunCommand.time($0, "--timeout") })
    var timeout = Self.defaultTimeout

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @Option(help: "Write the delays over time to this file, as SVG.", completion: .file(extensions: ["svg"]))
    var plot: String?

    @OptionGroup(title: "Installed plug-ins")
    var installed: InstalledPluginOptions

    func validate() throws {
        guard source != nil || via != nil else {
            throw ValidationError("Give a source that shows pattern:timecode, or a sink with --via.")
        }
        guard via != nil || from == nil else { throw ValidationError("--from requires --via.") }
        guard !screen || (source != nil && via == nil) else {
            throw ValidationError("--screen requires a source, the camera that films the page, and excludes --via.")
        }
        guard screen || screenAddress == nil else { throw ValidationError("--screen-address requires --screen.") }
    }

    func run() async throws {
        let registry = try PluginRegistry.command(installed)
        var configuration = CapturerConfiguration()
        configuration.timeouts.giveUp = timeout
        configuration.logger = Logger(label: "inlet") { _ in SwiftLogNoOpLogHandler() }
        // The return path is not available until its setup has finished, so it is tried repeatedly.
        if via == nil { configuration.retry = .never }
        let received =
            if from == nil, let via {
                try LatencyReturn.source(of: via, in: registry)
            } else {
                try registry.source(from ?? source ?? "")
            }
        let receiver = Capturer(received, configuration: configuration)
        let page = screen ? try LatencyScreen(at: screenAddress ?? LatencyScreen.defaultAddress) : nil
        defer { page?.stop() }
        if let page {
            Terminal.writeError("Film \(page.address) with the whole white frame in the picture.\n")
        }
        let meter = LatencyMeter(
            isFilmed: screen, warmUp: warmUp, duration: duration, limit: Int(clamping: frames ?? .max),
            patience: timeout)
        receiver.attach(meter, queue: .buffered(16, dropping: .oldest))
        meter.onDone { receiver.stop() }

        let interrupted = InterruptFlag()
        let interrupt = Interrupt {
            interrupted.raise()
            receiver.stop()
        }
        defer { withExtendedLifetime(interrupt) {} }
        if let via {
            try await Self.send(
                registry.source(source ?? Self.defaultPattern), to: registry.sink(via), while: receiver, meter,
                // A loopback may be a camera only while a program writes to it.
                headStart: (from ?? via).hasBytePrefix("v4l2:") ? timeout : .zero)
        } else {
            try await receiver.run()
        }
        let (samples, unreadable) = meter.results
        if interrupted.isRaised, samples.isEmpty { throw ExitCode(ExitStatus.interrupted.rawValue) }
        let report = try LatencyReport(
            source: receiver.sourceName, samples, unreadable: unreadable, isFilmed: screen)
        print(json ? try report.json : report.text)
        if let plot {
            do {
                try Data(LatencyPlot(report, samples).text.utf8).write(to: URL(filePath: plot), options: .atomic)
            } catch {
                throw InletError(.inputOutput, "Cannot write the plot to \(plot): \(error)")
            }
        }
        if interrupted.isRaised { throw ExitCode(ExitStatus.interrupted.rawValue) }
    }

    /// Receives pictures while the source's pictures are sent.
    ///
    /// - Parameter headStart: how long to wait at most for the first picture to be sent before receiving.
    /// - Throws: the reason why nothing could be sent, or else the error of ``Capturer/run()`` of the receiver.
    private static func send(
        _ source: any FrameSourceConfiguration, to sink: any FrameSinkConfiguration, while receiver: Capturer,
        _ meter: LatencyMeter, headStart: Duration
    ) async throws {
        var configuration = CapturerConfiguration()
        configuration.endsWithoutSinks = true
        configuration.logger = Logger(label: "inlet") { _ in SwiftLogNoOpLogHandler() }
        let sender = Capturer(source, configuration: configuration)
        sender.attach(sink)
        let events = sender.events
        let hasEnded = InterruptFlag()
        let sending = Task { () throws -> Void in
            // Without sent pictures there is nothing to wait for.
            defer {
                hasEnded.raise()
                receiver.stop()
            }
            try await sender.run()
        }
        let sinkFailure = Task { () -> InletError? in
            var first: InletError?
            for await event in events {
                if case .sinkEnded(_, _, let error?) = event { first = first ?? error }
            }
            return first
        }
        let clock = SystemClock()
        let end = clock.now + headStart
        while sender.statistics.delivered == 0, !hasEnded.isRaised, clock.now < end {
            try? await Task.sleep(for: .milliseconds(10))
        }
        let received: Result<EndReason, InletError>
        do throws(InletError) {
            received = .success(try await receiver.run())
        } catch {
            received = .failure(error)
        }
        sender.stop()
        let sent = await sending.result
        let failure = await sinkFailure.value
        guard !meter.isDone else { return }
        if let failure { throw failure }
        try sent.get()
        _ = try received.get()
    }
}
