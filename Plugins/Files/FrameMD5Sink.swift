import InletCore
import InletOutput

/// Writes a line with the MD5 sum of each picture, in version 2 of the format of FFmpeg's framemd5 muxer
/// (libavformat/framehash.c and hashenc.c).
final class FrameMD5Sink: FrameSink {
    private let path: String
    private let mode: FileMode
    private let filters: PictureFilters
    private let subject: String
    private var output: (file: OutputFile, digest: MD5Digest)?
    private var timeBase = Rational(1)
    /// The start of the timeline for frames without a PTS.
    private var origin: MonotonicTime?

    init(path: String, mode: FileMode, filters: PictureFilters, subject: String) {
        self.path = path
        self.mode = mode
        self.filters = filters
        self.subject = subject
    }

    var wants: SinkWants {
        var wants = SinkWants()
        wants.filters = filters
        return wants
    }

    func start(_ format: VideoFormat, _ context: SinkContext) throws {
        let output = try (file: OutputFile(path: path, mode: mode, subject: subject), digest: MD5Digest())
        try output.file.write(Array(Self.header(format).utf8))
        self.output = output
        timeBase = format.timeBase
    }

    func consume(_ frame: VideoFrame) throws {
        guard let output else { return }
        let line = line(frame, hash: output.digest.hexadecimal(of: frame.buffer))
        try output.file.write(Array(line.utf8), sequence: frame.sequence)
    }

    func finish() throws {
        defer { output = nil }
        try output?.file.finish()
    }

    private static func header(_ format: VideoFormat) -> String {
        let aspect = format.sampleAspectRatio
        return """
            #format: frame checksums
            #version: 2
            #hash: MD5
            #software: Inlet
            #tb 0: \(format.timeBase.numerator)/\(format.timeBase.denominator)
            #media_type 0: video
            #codec_id 0: rawvideo
            #dimensions 0: \(format.size)
            #sar 0: \(aspect?.numerator ?? 0)/\(aspect?.denominator ?? 1)
            #stream#, dts,        pts, duration,     size, hash

            """
    }

    private func line(_ frame: VideoFrame, hash: String) -> String {
        let pts = (frame.pts ?? timeSinceFirst(frame)).rescaled(to: timeBase).ticks
        let duration = frame.duration?.rescaled(to: timeBase).ticks ?? 0
        let time = Self.padded(pts, to: 10)
        return "0, \(time), \(time), \(Self.padded(duration, to: 8)), "
            + "\(Self.padded(Int64(frame.size.packedI420ByteCount), to: 8)), \(hash)\n"
    }

    /// Returns the time to write for a frame without a PTS: its time of arrival, relative to the first such frame.
    private func timeSinceFirst(_ frame: VideoFrame) -> MediaTime {
        let origin = origin ?? frame.timestamp
        self.origin = origin
        return MediaTime(
            ticks: (frame.timestamp - origin).wholeNanoseconds, timeBase: Rational(1, 1_000_000_000))
    }

    private static func padded(_ number: Int64, to width: Int) -> String {
        let text = String(number)
        return String(repeating: " ", count: max(0, width - text.utf8.count)) + text
    }
}
