import InletCore
import InletFFmpeg

/// Fills in decoding times where a container has none, as raw H.264 files do, so that libavcodec can derive presentation times.
///
/// The way of the `ffmpeg` command: count packets by their duration from minus the reorder depth on.
struct TimestampGuess {
    private var frameTicks: Int64 = 0
    private var reorderDepth: Int64 = 0
    private var next: Int64?

    init() {}

    init(_ stream: StreamFacts, reorderDepth: Int) {
        frameTicks = stream.frameTicks
        self.reorderDepth = Int64(reorderDepth)
    }

    mutating func reset() { next = nil }

    mutating func complete(_ packet: FFmpegPacket) {
        let guess = next ?? -reorderDepth * frameTicks
        let step = packet.duration > 0 ? packet.duration : frameTicks
        if let dts = packet.dts {
            next = dts &+ step
        } else {
            packet.dts = guess
            next = guess &+ step
        }
    }
}
