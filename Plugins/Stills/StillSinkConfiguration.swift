public import InletCore
import InletOutput

/// Frames as still pictures, one per file: `jpeg:door-{n}.jpg?every=5s`, `png:still.png`.
///
/// Pictures are written under a temporary name in the same folder and then renamed, so readers see only complete
/// files. They are upright.
public struct StillSinkConfiguration: FrameSinkConfiguration, Hashable {
    /// How pictures are encoded.
    public var format: Format
    /// The path, with `{n}`, `{n:DIGITS}`, `{date}`, `{time}`, `{utc}`, `{sequence}` or `%d` for names that change.
    ///
    /// Numbers continue after those of existing files. For any other name that exists, `-2` is added before the
    /// extension.
    public var pattern: String
    /// The frames to take. The default is ``Taking-swift.enum/all`` if names distinguish frames, and
    /// ``Taking-swift.enum/once`` if they do not.
    public var taking: Taking
    /// Whether an existing file is replaced. The default is false: an existing file is an error if names do not
    /// change.
    public var overwrites = false
    /// The permissions of the files. The default is ``FileMode/owner``.
    public var mode = FileMode.owner
    /// The quality of a JPEG, from 1 to 100. The default is 90.
    public var quality = 90
    /// The compression of a PNG, from 0, none, to 9. The default is 6.
    public var compression = 6
    /// The largest pictures; larger ones are scaled down. The default, nil, is no limit.
    public var largestSize: ImageSize?
    /// The filters for pictures that they would change. The default is all.
    public var filters = PictureFilters.all

    /// How pictures are encoded.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// Baseline JPEG, 4:2:0.
        case jpeg
        /// RGB, 8 bits a channel.
        case png
    }

    /// The frames to take.
    public enum Taking: Sendable, Hashable {
        /// The first frame, after which the sink ends.
        case once
        /// One frame per interval of the capture timeline, from 1 ms to 24 hours. The capturer selects them before any
        /// conversion.
        case every(Duration)
        /// Frames that decode without any other.
        case keyFrames
        /// Every frame.
        case all
    }

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - format: how pictures are encoded.
    ///   - pattern: the name of the files, with its fields.
    ///   - taking: the frames to take; nil is the default of ``taking``.
    public init(_ format: Format, pattern: String, taking: Taking? = nil) {
        self.format = format
        self.pattern = pattern
        self.taking =
            taking ?? ((try? FileNamePattern(pattern, hasSequence: true))?.tellsFilesApart == true ? .all : .once)
    }

    /// The sink's URI.
    public var redactedURI: String { "\(format.rawValue):\(pattern)" }

    /// Returns a sink with this configuration. Opens nothing yet.
    public func makeSink() -> any FrameSink { StillSink(self) }

    /// Checks what can be checked without a picture.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for an invalid pattern, for a pattern with which each still
    ///   would overwrite the previous one although that is not allowed, and for an interval out of range.
    public func validate() throws(InletError) { _ = try validated() }

    static let intervals = Duration.milliseconds(1) ... .seconds(86_400)
    static let intervalText = "1ms to 24h"

    func validated() throws(InletError) -> FileNamePattern {
        guard let last = pattern.utf8.last, last != UInt8(ascii: "/") else {
            throw InletError(
                .invalidConfiguration, "Add a file name, such as \(format.rawValue):still.\(format.rawValue).")
        }
        if case .every(let interval) = taking, !Self.intervals.contains(interval) {
            throw InletError(
                .invalidConfiguration,
                "every=\(interval.optionText) is out of range. Use \(Self.intervalText).")
        }
        let name = try FileNamePattern(pattern, hasSequence: true)
        guard taking == .once || overwrites || name.tellsFilesApart else {
            throw InletError(
                .invalidConfiguration,
                "Every still would overwrite the last one. Put {n} or {time} into the name, or add overwrite=true."
            )
        }
        return name
    }
}

extension SinkPlugin {
    /// The plug-in for `jpeg:PATTERN`.
    public static let jpeg = still(
        .jpeg, extra: [StillOptions.quality.description],
        examples: ["jpeg:still.jpg", "jpeg:door-{n}.jpg?every=5s"])

    /// The plug-in for `png:PATTERN`.
    public static let png = still(
        .png, extra: [StillOptions.compression.description],
        examples: ["png:still.png", "png:key-{sequence}.png?take=key"])

    private static func still(
        _ format: StillSinkConfiguration.Format, extra: [PluginOptionDescription], examples: [String]
    ) -> SinkPlugin {
        let scheme = format.rawValue
        let common = [
            StillOptions.take.description, StillOptions.every.description, StillOptions.overwrite.description,
            StillOptions.largest.description, NewFile.mode.description,
        ]
        let info = PluginInfo(
            name: format == .jpeg ? "JPEGSink" : "PNGSink", schemes: [scheme],
            summary: "Writes frames as \(format == .jpeg ? "JPEG" : "PNG") pictures, one per file.",
            usage: "\(scheme):PATTERN, with {n}, {n:DIGITS}, {date}, {time}, {utc} or {sequence} in names that change",
            options: common + extra + StillOptions.filters.descriptions, examples: examples)
        return SinkPlugin(info) { uri, values in
            var taking = values[StillOptions.take]?.taking
            if let interval = values[StillOptions.every] {
                guard taking == nil else {
                    throw InletError(.invalidConfiguration, "Use take= or every=, not both.")
                }
                taking = .every(interval)
            }
            var configuration = StillSinkConfiguration(format, pattern: uri.rest, taking: taking)
            configuration.overwrites = values[StillOptions.overwrite]
            configuration.largestSize = values[StillOptions.largest]
            configuration.mode = values[NewFile.mode]
            configuration.filters = StillOptions.filters.value(in: values)
            if format == .jpeg { configuration.quality = values[StillOptions.quality] }
            if format == .png { configuration.compression = values[StillOptions.compression] }
            try configuration.validate()
            return configuration
        }
    }
}

/// The values of `take=`.
private enum TakeOption: String, ChoiceOptionValue {
    case once
    case key
    case all

    var taking: StillSinkConfiguration.Taking {
        switch self {
        case .once: .once
        case .key: .keyFrames
        case .all: .all
        }
    }
}

private enum StillOptions {
    private static let defaults = StillSinkConfiguration(.jpeg, pattern: "")
    static let take = PluginOption<TakeOption?>("take", default: nil, "Take the first frame, only key frames, or all")
    static let every = PluginOption<Duration?>(
        "every", default: nil, "Take one frame per interval", range: StillSinkConfiguration.intervalText,
        isAllowed: { $0.map(StillSinkConfiguration.intervals.contains) ?? true })
    static let overwrite = PluginOption("overwrite", default: defaults.overwrites, "Replace files of the same name")
    static let largest = PluginOption<ImageSize?>(
        "max-size", default: nil, "Scale larger pictures down to fit", unit: "pixels", range: "16x16 to 16384x16384",
        isAllowed: { size in
            size.map { (16...16_384).contains($0.width) && (16...16_384).contains($0.height) } ?? true
        }
    ).formerly("largest")
    static let quality = PluginOption("quality", default: defaults.quality, in: 1...100, "JPEG quality")
    static let compression = PluginOption("compression", default: defaults.compression, in: 0...9, "PNG compression")
    static let filters = PictureFilterOptions(default: defaults.filters)
}
