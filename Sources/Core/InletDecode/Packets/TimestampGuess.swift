package import InletCore

/// Fills in the decoding times that a container lacks, such as a raw H.264 file, so that a decoder can derive
/// presentation times.
///
/// It works as the `ffmpeg` command does, including its rounding to whole microseconds, so that both give such a file
/// the same times: it counts packets by their duration, starting at minus the reorder depth.
package struct TimestampGuess: Sendable {
    private static let microsecond = Rational(1, 1_000_000)
    package let timeBase: Rational
    private let frameMicroseconds: Int64
    private let start: Int64
    /// The next decoding time, in microseconds.
    private var next: Int64?

    /// - Parameters:
    ///   - frameRate: frames a second, if known.
    ///   - reorderDepth: how many pictures are decoded before one that is shown earlier.
    package init(timeBase: Rational, frameRate: Rational?, reorderDepth: Int) {
        self.timeBase = timeBase
        let interval = frameRate?.reciprocal.map { MediaTime(ticks: 1, timeBase: $0).nanoseconds / 1000 } ?? 0
        frameMicroseconds = interval
        start = interval.multiplied(saturatingBy: -Int64(reorderDepth))
    }

    /// Records that the stream is read from its beginning again.
    package mutating func reset() { next = nil }

    /// Returns the decoding time of the next packet, in ticks.
    ///
    /// - Parameters:
    ///   - dts: the container's decoding time; nil if the container states no time.
    ///   - duration: the packet's duration, in ticks; 0 if unknown.
    package mutating func complete(dts: Int64?, duration: Int64) -> Int64 {
        let now = dts.map(microseconds) ?? next ?? start
        next = now &+ (duration > 0 ? microseconds(duration) : frameMicroseconds)
        return dts ?? ticks(now)
    }

    /// Returns the time of a picture that the decoder output at the end without one, in ticks.
    package mutating func nextAtEnd() -> Int64 {
        let now = next ?? 0
        next = now &+ frameMicroseconds
        return ticks(now)
    }

    private func microseconds(_ ticks: Int64) -> Int64 {
        MediaTime(ticks: ticks, timeBase: timeBase).rounded(to: Self.microsecond)
    }

    private func ticks(_ microseconds: Int64) -> Int64 {
        MediaTime(ticks: microseconds, timeBase: Self.microsecond).rounded(to: timeBase)
    }
}

extension MediaTime {
    /// Returns the time in ticks of another time base, to the nearest, halves away from zero: libavutil's
    /// AV_ROUND_NEAR_INF.
    fileprivate func rounded(to other: Rational) -> Int64 {
        let half = Rational(other.numerator, other.denominator &* 2)
        let halves = MediaTime(ticks: ticks.magnitudeClamped, timeBase: timeBase).rescaled(to: half).ticks
        let rounded = halves / 2 + halves % 2
        return ticks < 0 ? -rounded : rounded
    }
}

extension Int64 {
    fileprivate var magnitudeClamped: Int64 { Int64(clamping: magnitude) }
}
