import InletCore

/// Thins frames out to a rate, as evenly as their timestamps allow.
///
/// A grid of due times, one interval apart, lies over the timeline; for each due time the frame nearest to it is taken.
/// Nearness is judged by the frames' places in the source's rhythm, so that jitter changes nothing. If two frames are
/// about equally near, as happens repeatedly when the source's rate is slightly off a multiple of the wanted one, the
/// limiter keeps to the side it chose before: the distances between frames taken are the whole numbers of frames just
/// below and above the ratio of the rates, and no others. After a gap the grid restarts at the first frame.
struct RateLimiter {
    private let interval: Int64
    private var cadence: FrameCadence
    private var due: Int64?
    private var taken: Int64 = 0
    private var side = Side.neither

    /// The side of its due time on which the last frame lay, if it was far from it.
    private enum Side { case early, late, neither }

    /// The number of frames during which the grid is aligned with the actual frames, since the first may have jittered.
    private static let settlingFrames: Int64 = 16

    /// - Parameters:
    ///   - maximumFrameRate: frames a second, greater than zero.
    ///   - sourceFrameRate: the rate that the source states; nil if it states none.
    init(maximumFrameRate: Rational, sourceFrameRate: Rational? = nil) {
        interval = Self.interval(of: maximumFrameRate)
        cadence = FrameCadence(period: sourceFrameRate.map(Self.interval(of:)))
    }

    /// Returns the interval, from 1 ns to 36 years, so that sums of times and intervals stay within 64 bits.
    private static func interval(of rate: Rational) -> Int64 {
        min(max(1, MediaTime(ticks: 1, timeBase: rate.reciprocal ?? Rational(1)).nanoseconds), 1 << 60)
    }

    /// Returns whether to deliver the frame of this time. Times increase.
    mutating func admits(_ time: MonotonicTime) -> Bool {
        let place = cadence.place(time.nanoseconds)
        guard let due, let period = cadence.period else {
            due = place + interval
            return true
        }
        let spacing = min(period, interval)
        let offset = place - due
        let grace =
            switch side {
            case .early: spacing / 4 * 3
            case .late: spacing / 4
            case .neither: spacing / 2
            }
        guard offset >= -grace else { return false }
        if offset > spacing / 8 * 7 {
            // No frame arrived when one was due.
            self.due = place + interval
            side = .neither
            return true
        }
        side = offset < -spacing / 4 ? .early : offset > spacing / 4 ? .late : .neither
        taken += 1
        let shift = taken <= Self.settlingFrames ? offset / (taken + 1) : 0
        self.due = due + shift + interval
        return true
    }
}
