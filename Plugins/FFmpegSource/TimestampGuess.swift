import CFFmpeg
import InletCore
import InletFFmpeg

/// Fills in decoding times where a container has none, as raw H.264 files do, so that libavcodec can derive presentation times.
///
/// The way of the `ffmpeg` command, its rounding to whole microseconds included, so that both give such a file the same times: count
/// packets by their duration, from minus the reorder depth on.
struct TimestampGuess {
    private static let microsecond = AVRational(num: 1, den: 1_000_000)
    private let timeBase: AVRational
    private let frameMicroseconds: Int64
    private let start: Int64
    /// In microseconds.
    private var next: Int64?

    init(_ stream: StreamFacts, reorderDepth: Int) {
        timeBase = AVRational(stream.timeBase)
        let interval = stream.frameRate?.reciprocal.map { MediaTime(ticks: 1, timeBase: $0).nanoseconds / 1000 } ?? 0
        frameMicroseconds = interval
        start = interval.multiplied(saturatingBy: -Int64(reorderDepth))
    }

    mutating func reset() { next = nil }

    mutating func complete(_ packet: FFmpegPacket) {
        var now = next ?? start
        if let dts = packet.dts {
            now = av_rescale_q(dts, timeBase, Self.microsecond)
        } else {
            packet.dts = av_rescale_q(now, Self.microsecond, timeBase)
        }
        let duration = packet.duration
        next = now &+ (duration > 0 ? av_rescale_q(duration, timeBase, Self.microsecond) : frameMicroseconds)
    }

    /// The time of a picture that came out of the decoder at the end without one, in ticks.
    mutating func nextAtEnd() -> Int64 {
        let now = next ?? 0
        next = now &+ frameMicroseconds
        return av_rescale_q(now, Self.microsecond, timeBase)
    }
}
