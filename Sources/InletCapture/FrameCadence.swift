import InletCore

/// The regular rhythm behind a source's jittering timestamps: how far apart its frames are, and where each would lie without the jitter.
///
/// An alpha-beta filter over the timestamps. Frames that are missing are seen as longer steps; where steps are of no one length, as on a screen
/// that changes now and then, a frame's own time counts. Times are nanoseconds.
struct FrameCadence {
    /// How far apart frames are, as far as it is known.
    private(set) var period: Int64?
    /// The newest frame's place.
    private var position: Int64 = 0
    private var newest: Int64 = 0
    /// Moves towards the spacing of each frame by a thirty-second of itself, and so comes to lie at the median: slow and rough, but led astray
    /// by neither outliers nor gaps. It tells when ``period`` is a multiple or a fraction of the truth.
    private var median: Int64 = 0
    private var frames = 0

    /// Frames missing in a row after which the rhythm is taken up anew.
    private static let longestStep: Int64 = 8
    /// Frames before ``median`` is trusted more than ``period``.
    private static let settlingFrames = 16

    /// - Parameter period: what the source says; nil where it does not.
    init(period: Int64?) {
        self.period = period.map { max(1, $0) }
        median = self.period ?? 0
    }

    /// Takes in a frame and gives the place where it would lie without jitter, at most half a period from its time.
    mutating func place(_ time: Int64) -> Int64 {
        defer { newest = time }
        frames += 1
        guard frames > 1 else {
            position = time
            return time
        }
        let spacing = max(1, time - newest)
        guard var period else {
            (period, median, position) = (spacing, spacing, time)
            return time
        }
        median = max(1000, median + (spacing > median ? median : -median) / 32)
        if frames > Self.settlingFrames, period > median / 2 * 3 || period < median / 3 * 2 {
            (frames, self.period, position) = (1, median, time)
            return time
        }
        let steps = (time - position + period / 2) / period
        // A frame far too early is no step; the next one is seen from where the last one was.
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
