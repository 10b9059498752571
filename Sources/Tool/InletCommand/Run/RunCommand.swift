import ArgumentParser
import Inlet
import Logging

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Reads a source and hands its frames to sinks.",
        discussion: """
            Examples:

              inlet run clip.mp4
              inlet run 'pattern:ball?fps=60' --duration 5 --to y4m:ball.y4m
              inlet run clip.mp4 --size 640x360 --max-fps 10 --to y4m:- --report none | ffplay -
              inlet run 'camera.fifo?pace=live' --retry 5 --timeout 5 --outage text
              inlet run clip.mp4 --to framemd5:- --to i420:clip.yuv --report json
              inlet run rtsp://camera/stream --to 'mp4:cam-{n}.mp4?segment=60s&keep-size=10G' --sink-retry forever
            """)

    private static let defaultSink = "null:"

    @Argument(help: "A source URI or a path; `inlet plugins` lists the sources.", completion: .file())
    var source: String

    @Option(
        name: .customLong("to"), help: "A sink URI. May be given several times. The default is \(Self.defaultSink).",
        completion: .file())
    var sinks: [String] = []

    @Option(
        help: "latest, buffered:N or lossless[:N]. The default is latest for live sources and lossless for others.",
        completion: .list(["latest", "buffered:", "lossless"]), transform: QueueOption.init)
    var queue: QueueOption?

    @Option(help: "End after N captured frames.", transform: { try Self.positive($0, "--frames") })
    var frames: UInt64?

    @Option(
        help: "End after this much time of the source, such as 3, 1.5s or 500ms.",
        transform: { try Self.time($0, "--duration") })
    var duration: Duration?

    @Option(help: "Scale every frame to WIDTHxHEIGHT.", transform: { try Self.size($0, "--size") })
    var size: ImageSize?

    @Option(
        name: .customLong("max-fps"), help: "At most this many frames a second, such as 10 or 30000/1001.",
        transform: { try Self.rate($0, "--max-fps") })
    var maximumRate: Rational?

    @Option(
        name: .customLong("fps"), help: .hidden, transform: { try Self.rate($0, "--fps") })
    var formerMaximumRate: Rational?
    private var rate: Rational? { maximumRate ?? formerMaximumRate }

    @OptionGroup(title: "Filters")
    var filters: FilterOptions

    @OptionGroup(title: "Trouble")
    var trouble: TroubleOptions

    @Option(help: "The report on standard error at the end: json, text or none.")
    var report = ReportStyle.text

    @OptionGroup var tracing: TraceOptions

    @OptionGroup(title: "Installed plug-ins")
    var installed: InstalledPluginOptions

    func validate() throws {
        guard maximumRate == nil || formerMaximumRate == nil else {
            throw ValidationError("--fps is the former name of --max-fps. Give one of them.")
        }
    }

    func run() async throws {
        let registry = try PluginRegistry.command(installed)
        let source = try registry.source(source)
        let sinks = try (sinks.isEmpty ? [Self.defaultSink] : sinks).map(registry.sink)

        var configuration = CapturerConfiguration()
        configuration.filters = registry.filters
        configuration.frameLimit = frames
        configuration.durationLimit = duration
        configuration.endsWithoutSinks = true
        trouble.apply(to: &configuration)
        // The event lines and the report state each error once. Without them, the log reports the most important ones.
        if report == .none {
            configuration.logger.logLevel = .critical
        } else {
            configuration.logger = Logger(label: "inlet") { _ in SwiftLogNoOpLogHandler() }
        }
        let trace = try tracing.start(for: &configuration)
        let capturer = Capturer(source, configuration: configuration)
        for sink in sinks {
            if sink is any PacketSinkConfiguration, size != nil || rate != nil || filters.areAdded {
                throw ValidationError(
                    "\(sink.redactedURI) copies the source's packets, which --size, --max-fps, --deinterlace and --tone-map cannot change. Remove these options or codec=copy."
                )
            }
            capturer.attach(sink, queue: queue?.policy, wants: wants(of: sink), onFailure: trouble.sinkRetry ?? .detach)
        }

        let events = capturer.events
        let sinkFailures = Task { [report] () -> InletError? in
            var first: InletError?
            for await event in events {
                if report != .none { EventLine.write(event) }
                if case .sinkEnded(_, _, let error?) = event { first = first ?? error }
            }
            return first
        }
        let interrupted = InterruptFlag()
        let outcome = await Self.run(capturer, interrupted: interrupted)
        let traceFailure = await tracing.finish(trace)
        let failure = await sinkFailures.value ?? traceFailure

        // A missing folder of a sink must not be reported as a missing input.
        var status = failure.map { $0.code == .notFound ? ExitStatus.inputOutput : ExitStatus($0) }
        var error = failure
        var reason: EndReason?
        switch outcome {
        case .success(let end): reason = end
        case .failure(let runError):
            error = runError
            status = ExitStatus(runError)
        }
        report.write(RunReport(capturer.statistics, reason: reason, error: error))
        if let status { throw ExitCode(status.rawValue) }
        if interrupted.isRaised { throw ExitCode(ExitStatus.interrupted.rawValue) }
    }

    /// Returns the wants that the command line requests, and the sink's for the rest; nil leaves them to the sink.
    private func wants(of sink: any FrameSinkConfiguration) -> SinkWants? {
        guard size != nil || rate != nil || filters.areGiven else { return nil }
        var wants = sink.makeSink().wants
        if let size { (wants.size, wants.largestSize) = (size, nil) }
        if let rate { wants.maximumFrameRate = rate }
        filters.apply(to: &wants.filters)
        return wants
    }

    /// Runs with a status line and a clean stop on Ctrl-C.
    private static func run(_ capturer: Capturer, interrupted: InterruptFlag) async -> Result<EndReason, InletError> {
        let interrupt = Interrupt {
            interrupted.raise()
            capturer.stop()
        }
        let status = Terminal.isInteractive ? Task { await StatusLine(capturer).show() } : nil
        let outcome: Result<EndReason, InletError>
        do throws(InletError) {
            outcome = .success(try await capturer.run())
        } catch {
            outcome = .failure(error)
        }
        status?.cancel()
        await status?.value
        withExtendedLifetime(interrupt) {}
        return outcome
    }
}
