import ArgumentParser
import FoundationEssentials
import Inlet

struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe",
        abstract: "Opens a source, reads one frame and prints its format.",
        discussion: "Examples:\n\n  inlet probe clip.mp4\n  inlet probe --json 'pattern:smpte?size=640x360'")

    @Argument(help: "A source URI or a path.", completion: .file())
    var source: String

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @OptionGroup(title: "Installed plug-ins")
    var installed: InstalledPluginOptions

    func run() async throws {
        var configuration = CapturerConfiguration()
        // The command reports the present state, so it does not retry.
        configuration.retry = .never
        let capturer = Capturer(
            try PluginRegistry.command(installed).source(source), configuration: configuration)
        let interrupted = InterruptFlag()
        let interrupt = Interrupt {
            interrupted.raise()
            capturer.stop()
        }
        defer { withExtendedLifetime(interrupt) {} }
        let events = capturer.events
        let frame = try await capturer.run(queue: .lossless(1)) { frames in
            for try await frame in frames { return Optional(frame) }
            return nil
        }
        if interrupted.isRaised { throw ExitCode(ExitStatus.interrupted.rawValue) }
        var format: SourceFormat?
        for await event in events {
            if case .opened(let opened) = event { format = opened }
        }
        guard let format else {
            throw InletError(.internal, "The source opened without reporting its format.")
        }
        let findings = Findings(name: capturer.sourceName, format: format, frame: frame)
        print(json ? try findings.json : findings.text)
    }

    /// The results, in the order in which people read them.
    struct Findings: Encodable {
        var source: String
        var container: String?
        var codec: String?
        var pixelFormat: String
        var width: Int
        var height: Int
        var frameRate: String?
        var timeBase: String
        var duration: Double?
        var firstPTS: Int64?
        var rotation: Int
        var sampleAspectRatio: String?
        var range: String
        var matrix: UInt8
        var primaries: UInt8
        var transfer: UInt8
        var hdr: String?
        var pacing: String

        enum CodingKeys: String, CodingKey {
            case source, container, codec, width, height, duration, rotation, range, matrix, primaries, transfer, hdr
            case pacing
            case pixelFormat = "pixel_format"
            case frameRate = "frame_rate"
            case timeBase = "time_base"
            case firstPTS = "first_pts"
            case sampleAspectRatio = "sample_aspect_ratio"
        }

        init(name: String, format: SourceFormat, frame: VideoFrame?) {
            let color = frame?.colorSpace ?? format.colorSpace
            source = name
            container = format.container
            codec = format.codec
            pixelFormat = format.pixelFormat.name
            width = frame?.size.width ?? format.size.width
            height = frame?.size.height ?? format.size.height
            frameRate = format.frameRate?.description
            timeBase = format.timeBase.description
            duration = format.duration?.seconds
            firstPTS = frame?.pts?.ticks
            rotation = (frame?.rotation ?? format.rotation).rawValue
            sampleAspectRatio = (frame?.sampleAspectRatio ?? format.sampleAspectRatio)?.description
            range = color.range.rawValue
            matrix = color.matrix.rawValue
            primaries = color.primaries.rawValue
            transfer = color.transfer.rawValue
            hdr = color.transfer.highDynamicRangeName
            pacing = format.pacing.rawValue
        }

        var json: String {
            get throws {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                return String(decoding: try encoder.encode(self), as: UTF8.self)
            }
        }

        var text: String {
            var lines = ["source     \(source)"]
            if let container { lines.append("container  \(container)") }
            if let codec { lines.append("codec      \(codec)") }
            lines.append(
                "picture    \(width)x\(height) \(pixelFormat), turned \(rotation) degrees clockwise to be upright")
            lines.append(
                "rate       \(frameRate.map { "\($0) fps" } ?? "not constant or not known"), time base \(timeBase) s")
            lines.append(
                "duration   \(duration.map { "\($0.shortText) s" } ?? "not known"), first PTS \(firstPTS.map(String.init) ?? "none")"
            )
            lines.append(
                "colour     range \(range), H.273 matrix \(matrix), primaries \(primaries), transfer \(transfer)"
                    + (hdr.map { ": high dynamic range (\($0))" } ?? ""))
            lines.append("pixels     aspect ratio \(sampleAspectRatio ?? "not known"); pacing \(pacing)")
            return lines.joined(separator: "\n")
        }
    }
}
