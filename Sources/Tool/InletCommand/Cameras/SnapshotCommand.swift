import ArgumentParser
import Inlet
import Logging

struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Writes one picture of a source, or a sheet of several.",
        discussion: """
            Examples:

              inlet snapshot v4l2: door.jpg
              inlet snapshot rtsp://camera/main door.png --timeout 5 --after 1s
              inlet snapshot clip.mp4 sheet.jpg --contact-sheet 4x3
              inlet snapshot v4l2: hour.jpg --contact-sheet 6x10 --every 1m --size 1920x1800
            """)

    private static let defaults = StillSinkConfiguration(.jpeg, pattern: "")
    private static let defaultTimeout = Duration.seconds(10)
    /// The time between the pictures of a contact sheet, if the source has no length.
    private static let defaultStep = Duration.seconds(1)

    @Argument(help: "A source URI or a path; `inlet plugins` lists the sources.", completion: .file())
    var source: String

    @Argument(
        help: "The file, whose name ends with .jpg, .jpeg or .png.",
        completion: .file(extensions: ["jpg", "jpeg", "png"]))
    var output: String

    @Option(
        help: "How long to wait for a frame. The default is \(Self.defaultTimeout.optionText).",
        transform: { try RunCommand.time($0, "--timeout") })
    var timeout = Self.defaultTimeout

    @Option(
        help: "Skip the source's frames for this long, for a camera that needs time to adjust its exposure.",
        transform: { try RunCommand.time($0, "--after") })
    var after: Duration?

    @Option(help: "The maximum size of the file's picture.", transform: { try RunCommand.size($0, "--size") })
    var size: ImageSize?

    @Option(help: "The quality of a JPEG, from 1 to 100.")
    var quality = Self.defaults.quality

    @Flag(help: "Replace an existing file.")
    var overwrite = false

    @Option(
        help:
            "The file's mode, as chmod's octal digits. The default is \(Self.defaults.mode.optionText), owner only.",
        transform: { text in
            guard let mode = FileMode(optionText: text) else {
                throw ValidationError("--mode takes 600 to 666, without execution, not '\(text)'.")
            }
            return mode
        })
    var mode = Self.defaults.mode

    @Option(
        help:
            "A sheet of COLUMNSxROWS pictures, spread over the source's length, or else taken every --every.",
        transform: { try RunCommand.size($0, "--contact-sheet") })
    var contactSheet: ImageSize?

    @Option(
        help:
            "The time between the pictures of a contact sheet. The default is \(Self.defaultStep.optionText) if the source has no length.",
        transform: { try RunCommand.time($0, "--every") })
    var every: Duration?

    @OptionGroup(title: "Filters")
    var filters: FilterOptions

    @OptionGroup(title: "Installed plug-ins")
    var installed: InstalledPluginOptions

    mutating func validate() throws {
        guard (1...100).contains(quality) else { throw ValidationError("--quality takes 1 to 100, not \(quality).") }
        guard every == nil || contactSheet != nil else { throw ValidationError("--every requires --contact-sheet.") }
        if let contactSheet, contactSheet.width > 64 || contactSheet.height > 64 {
            throw ValidationError("--contact-sheet takes 1x1 to 64x64, not \(contactSheet).")
        }
        _ = try stillFormat
    }

    func run() async throws {
        var still = StillSinkConfiguration(try stillFormat, pattern: Self.literal(output), taking: .once)
        (still.quality, still.overwrites, still.mode) = (quality, overwrite, mode)
        var configuration = CapturerConfiguration()
        configuration.timeouts.giveUp = timeout
        configuration.logger = Logger(label: "inlet") { _ in SwiftLogNoOpLogHandler() }
        let registry = try PluginRegistry.command(installed)
        configuration.filters = registry.filters
        let capturer = Capturer(try registry.source(source), configuration: configuration)
        let interrupted = InterruptFlag()
        let interrupt = Interrupt {
            interrupted.raise()
            capturer.stop()
        }
        defer { withExtendedLifetime(interrupt) {} }
        let frame: VideoFrame?
        if let contactSheet {
            frame = try await sheet(of: capturer, contactSheet)
        } else {
            frame = try await self.frame(of: capturer)
        }
        if interrupted.isRaised { throw ExitCode(ExitStatus.interrupted.rawValue) }
        guard let frame else {
            throw InletError(
                .malformedData,
                "The source ended \(after == nil ? "before its first picture" : "within the time of --after").",
                context: .init(subject: capturer.sourceName))
        }
        let sink = still.makeSink()
        try sink.start(
            VideoFormat(size: frame.size, timeBase: Rational(1, 1000), colorSpace: frame.colorSpace), SinkContext())
        do {
            try sink.consume(frame)
        } catch let error as InletError where error.code == .busy {
            throw InletError(.busy, "The file \(output) already exists. Add --overwrite to replace it.")
        } catch let error as InletError where error.code == .notFound {
            // A missing output folder must not be reported as a missing input.
            throw InletError(.inputOutput, error.message)
        }
        try sink.finish()
    }

    /// Returns the wants of a still: rotation and pixel shape are applied, because viewers of stills ignore them.
    private func wants(_ largest: ImageSize?) -> SinkWants {
        var wants = SinkWants(largestSize: largest, rotation: .applied, squarePixels: true)
        wants.filters = .all
        filters.apply(to: &wants.filters)
        return wants
    }

    /// Returns the first wanted frame.
    private func frame(of capturer: Capturer) async throws -> VideoFrame? {
        // No frame is dropped, so that this is the first frame, or the one at --after, of a file too.
        try await capturer.run(queue: .lossless(1), wants: wants(size)) { frames in
            var start: MonotonicTime?
            for try await frame in frames {
                start = start ?? frame.timestamp
                if let after, let start, frame.timestamp - start < after { continue }
                return Optional(frame)
            }
            return nil
        }
    }

    /// Returns a sheet of frames, starting with the first wanted one.
    private func sheet(of capturer: Capturer, _ grid: ImageSize) async throws -> VideoFrame? {
        let whole = size ?? ImageSize(width: 320 * grid.width, height: 180 * grid.height)
        let tile = ImageSize(width: whole.width / grid.width, height: whole.height / grid.height)
        let events = capturer.events
        return try await capturer.run(queue: .lossless(), wants: wants(tile)) { frames in
            var sheet = try ContactSheet(columns: grid.width, rows: grid.height, tile: tile)
            var (first, newest) = (VideoFrame?.none, VideoFrame?.none)
            var schedule: (start: MonotonicTime, step: Duration)?
            for try await frame in frames {
                if first == nil { first = frame }
                guard let start = first?.timestamp, frame.timestamp - start >= after ?? .zero else { continue }
                let plan: (start: MonotonicTime, step: Duration)
                if let schedule {
                    plan = schedule
                } else {
                    let step = await step(events, count: sheet.capacity)
                    plan = (frame.timestamp, step)
                    schedule = plan
                }
                guard frame.timestamp - plan.start >= plan.step * sheet.count else { continue }
                sheet.add(frame)
                newest = frame
                if sheet.count == sheet.capacity { break }
            }
            guard var result = newest else { return nil }
            result.colorSpace = result.colorSpace.assumed(for: result.size)
            result.buffer = sheet.finish()
            return result
        }
    }

    /// Returns the time between the pictures of a sheet. The source has been opened.
    private func step(_ events: AsyncStream<CapturerEvent>, count: Int) async -> Duration {
        if let every { return every }
        for await event in events {
            guard case .opened(let format) = event else { continue }
            if let duration = format.duration { return .nanoseconds(duration.nanoseconds / Int64(count)) }
            break
        }
        return Self.defaultStep
    }

    private var stillFormat: StillSinkConfiguration.Format {
        get throws {
            let name = output.lowercasedASCII
            if name.hasByteSuffix(".jpg") || name.hasByteSuffix(".jpeg") { return .jpeg }
            if name.hasByteSuffix(".png") { return .png }
            throw ValidationError("The name of the file '\(output)' must end with .jpg, .jpeg or .png.")
        }
    }

    /// Returns a file name as a pattern that matches only itself.
    private static func literal(_ path: String) -> String {
        path.replacing("%", with: "%%").replacing("{", with: "{{")
    }
}
