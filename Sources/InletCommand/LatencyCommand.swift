import ArgumentParser
import FoundationEssentials
import Inlet
import Logging

struct LatencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Measures how late pictures come, how many are lost, and how right their times are.",
        discussion: """
            The source shows pattern:timecode, whose pictures say when they were drawn, by the clock of this machine: \
            a stream of `inlet run pattern:timecode`, or a path through a sink and back (--via). The delay is from \
            drawing a picture to having it decoded as I420. With --screen a page shows the time instead, and a camera             films it: the delay then is from drawing on the page to the camera's picture, decoded.

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

    @Option(help: "A sink URI: pictures go out by it, and come back from the same address, or from --from.")
    var via: String?

    @Option(help: "Where the pictures come back with --via, if that is another address.")
    var from: String?

    @Flag(help: "Show the time on a page, for the source, a camera, to film.")
    var screen = false

    @Option(
        help: ArgumentHelp(
            "Where that page is served. The default is \(LatencyScreen.defaultAddress).", valueName: "host:port"))
    var screenAddress: String?

    @Option(
        help: "How long to measure. The default is \(Self.defaultDuration.optionText).",
        transform: { try RunCommand.time($0, "--duration") })
    var duration = Self.defaultDuration

    @Option(help: "End after N pictures, if that is sooner.", transform: { try RunCommand.positive($0, "--frames") })
    var frames: UInt64?

    @Option(
        help:
            "How long pictures are left out at the start, as what has waited comes at once. The default is \(Self.defaultWarmUp.optionText).",
        transform: { text in
            guard let time = Duration(optionText: text), time >= .zero else {
                throw ValidationError("--warm-up takes a time from zero on such as 0, 1.5s or 500ms, not '\(text)'.")
            }
            return time
        })
    var warmUp = Self.defaultWarmUp

    @Option(
        help: "How long to wait for a picture with a code. The default is \(Self.defaultTimeout.optionText).",
        transform: { try RunCommand.time($0, "--timeout") })
    var timeout = Self.defaultTimeout

    @Flag(help: "One JSON object instead of lines for people.")
    var json = false

    @Option(help: "Write the delays over time to this file, as SVG.")
    var plot: String?

    @OptionGroup(title: "Installed plug-ins")
    var installed: InstalledPluginOptions

    func validate() throws {
        guard source != nil || via != nil else {
            throw ValidationError("Give a source that shows pattern:timecode, or a way out by --via.")
        }
        guard via != nil || from == nil else { throw ValidationError("--from belongs to --via.") }
        guard !screen || (source != nil && via == nil) else {
            throw ValidationError("--screen is for a source, a camera that films the page, and not for --via.")
        }
        guard screen || screenAddress == nil else { throw ValidationError("--screen-address belongs to --screen.") }
    }

    func run() async throws {
        let registry = try PluginRegistry.command(installed)
        var configuration = CapturerConfiguration()
        configuration.timeouts.giveUp = timeout
        configuration.logger = Logger(label: "inlet") { _ in SwiftLogNoOpLogHandler() }
        // A path that is being set up is not available at once.
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
            Terminal.writeError("Film \(page.address), so that the white frame is whole in the picture.\n")
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
                throw InletError(.inputOutput, "The plot cannot be written to \(plot): \(error)")
            }
        }
        if interrupted.isRaised { throw ExitCode(ExitStatus.interrupted.rawValue) }
    }

    /// Receives while the source is sent.
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
