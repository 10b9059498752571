import InletCore

/// The regular rhythm underlying a source's jittering timestamps: how far apart its frames are, and where each would
/// lie without the jitter.
///
/// An alpha-beta filter over the timestamps. Missing frames appear as longer steps; if steps have no common length, as
/// on a screen that changes now and then, a frame's own time counts. Times are in nanoseconds.
struct FrameCadence {
    /// The interval between frames, as far as it is known.
    private(set) var period: Int64?
    /// The newest frame's place.
    private var position: Int64 = 0
    private var newest: Int64?
    /// Moves towards the spacing of each frame by a thirty-second of itself, and so settles at the median: slow and
    /// rough, but not misled by outliers or gaps. It shows when ``period`` is a multiple or a fraction of the true
    /// interval.
    private var median: Int64 = 0
    /// Frames until the filter is trusted to have found the rhythm.
    private var unsettledFrames = 0
    /// Frames until ``median`` has approached a new rhythm.
    private var lostFrames = 0

    /// The number of missing frames in a row after which the rhythm is detected again.
    private static let longestStep: Int64 = 8
    private static let settlingFrames = 16
    /// Enough frames for ``median`` to double.
    private static let searchingFrames = 24

    /// - Parameter period: the interval that the source states, greater than zero; nil if it states none.
    init(period: Int64?) {
        self.period = period
        median = period ?? 0
    }

    /// Takes in a frame and returns the place where it would lie without jitter, at most half a period from its time.
    mutating func place(_ time: Int64) -> Int64 {
        defer { newest = time }
        guard let newest else {
            position = time
            return time
        }
        let spacing = max(1, time - newest)
        guard var period else {
            (period, median, position) = (spacing, spacing, time)
            unsettledFrames = Self.settlingFrames
            return time
        }
        // Timestamps a nanosecond apart must not shrink it so far that it could not grow any more.
        median = max(1000, median + (spacing > median ? median : -median) / 32)
        if unsettledFrames > 0 {
            unsettledFrames -= 1
        } else if lostFrames == 0, period > median / 2 * 3 || period < median / 3 * 2 {
            lostFrames = Self.searchingFrames
        }
        if lostFrames > 0 {
            lostFrames -= 1
            (self.period, position) = (median, time)
            if lostFrames == 0 { unsettledFrames = Self.settlingFrames }
            return time
        }
        let steps = (time - position + period / 2) / period
        // A frame that is far too early is not a step; the next one is measured from the last place.
        guard steps > 0 else { return time }
        guard steps <= Self.longestStep else {
            position = time
            return time
        }
        let expected = position + steps * period
        let error = time - expected
        position = expected + error / 4
        period = max(1, period + error / (32 * steps))
        self.period = period
        return position
    }
}
