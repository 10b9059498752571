public import InletCore
public import InletDecode
import InletFFmpeg

/// A file, or any other path that libavformat can read: a FIFO, standard input, a series of pictures.
public struct FFmpegFileConfiguration: PacketSourceConfiguration {
    /// The path, taken literally; `-` is standard input. If there is no such file and the path has a field for a
    /// number, such as `img%03d.png`, it names a series of pictures.
    public var path: String
    /// The number of times that the file is repeated after its end, as with FFmpeg's `-stream_loop`; -1 repeats
    /// endlessly. The default is 0: the file is read once.
    public var loop = 0
    /// The start position, relative to the start of the file: the first frame is the one shown at that time. The
    /// default is 0.
    public var start = Duration.zero
    /// The pacing of frames. `.realtime` delivers each frame at its time. `.live`, only for FIFOs and devices, expects
    /// a camera program at the other end: frames arrive at its pace, and the end of the data is a failure. The
    /// default, `.unpaced`, reads as fast as frames are consumed.
    public var pace = SourcePacing.unpaced
    /// The number of decoding threads. The default, 0, makes libavcodec choose by the number of cores.
    public var threads = 0
    /// The decoders that may be used. The default is libavcodec's.
    public var decoders: [DecoderPlugin] = [.libavcodec]
    /// The name of the decoder to try first. The default, nil, is the one with the highest preference.
    public var decoder: String?
    /// The frame rate of a file that states no times: a series of pictures, or raw H.264 or HEVC. The default, nil, is
    /// libavformat's: 25.
    public var frameRate: Rational?
    /// The number of the stream to read, as ffprobe counts them. The default, nil, is the best video stream.
    public var stream: Int?

    /// Creates a configuration that reads the file once, from its start, as fast as frames are consumed.
    public init(path: String) { self.path = path }

    /// The source's URI, which holds no credentials.
    public var redactedURI: String { "file:\(path)" }

    /// The configuration of decoding.
    public var decoding: DecodingSettings { DecodingSettings(decoders, decoder: decoder, threads: threads) }

    /// Returns a source that reads the file. Opens nothing yet.
    public func makePacketSource() -> any FrameSource {
        FFmpegSource(
            FFmpegInput(
                kind: .file(path: path, pacing: pace), stream: stream, decoding: decoding, loop: loop, start: start,
                frameRate: frameRate))
    }
}

extension SourcePlugin {
    /// The plug-in for `file:PATH` and for any path without a scheme.
    public static let file = SourcePlugin(
        PluginInfo(
            name: "file", schemes: ["file"], summary: "Video files of every kind that libavformat opens.",
            usage: "file:PATH?loop=0&start=0s&pace=none&threads=0, or only a path; - is standard input",
            options: [
                FileOptions.loop.description, FileOptions.start.description, FileOptions.pace.description,
                FileOptions.threads.description, FileOptions.decoder.description, FileOptions.stream.description,
                FileOptions.frameRate.description,
            ],
            examples: ["clip.mp4", "file:clip.mp4?loop=-1&pace=realtime", "file:what%3F.mkv?start=90s"])
    ) { uri, values in
        guard !uri.rest.isEmpty else {
            throw InletError(.invalidConfiguration, "Add the path of a file, such as file:clip.mp4.")
        }
        var configuration = FFmpegFileConfiguration(path: uri.rest)
        configuration.loop = values[FileOptions.loop]
        configuration.start = values[FileOptions.start]
        configuration.pace = values[FileOptions.pace]
        configuration.threads = values[FileOptions.threads]
        configuration.decoder = values[FileOptions.decoder]
        configuration.stream = values[FileOptions.stream]
        configuration.frameRate = values[FileOptions.frameRate]
        return configuration
    }
}

private enum FileOptions {
    private static let defaults = FFmpegFileConfiguration(path: "")
    static let loop = PluginOption(
        "loop", default: defaults.loop, in: -1...1_000_000, "How often to repeat the file after its end; -1 is forever")
    static let start = PluginOption(
        "start", default: defaults.start, in: .zero ... .seconds(1_000_000), "The start position")
    static let pace = PluginOption(
        "pace", default: defaults.pace,
        "realtime plays at the file's own speed, none as fast as frames are taken; live is for a FIFO that a camera program writes"
    )
    static let threads = PluginOption(
        "threads", default: defaults.threads, in: 0...64, "Decoding threads; 0 is one per core")
    static let decoder = PluginOption<String?>(
        "decoder", default: nil, "The decoder to try first; 'inlet plugins' lists them")
    static let frameRate = PluginOption<Rational?>(
        "fps", default: nil,
        "The frame rate of a file that states no times, such as a series of pictures or a raw stream; 25 by default",
        range: "above 0, up to 1000", isAllowed: { $0.map { $0 > Rational(0) && $0 <= Rational(1000) } ?? true })
    static let stream = PluginOption<Int?>(
        "stream", default: nil, "The number of the stream, as listed by ffprobe", range: "0 or more"
    ) { ($0 ?? 0) >= 0 }
}
