import InletCore

/// Decides when lost packets cost so many pictures that another transport is worth an interruption.
///
/// A loss damages all pictures up to the next complete one that refers to no lost picture. The watch adds up the time
/// without complete pictures; five times as long with complete pictures compensates for it. The limit is 1.5 s if
/// pictures were damaged at least twice, otherwise 2.5 s. A single loss never reaches a decision, however far apart
/// key frames are, and neither does the time before the first key frame.
///
/// With 1 % of the packets lost at random, 2 s between key frames and 2.2 packets per picture, 79 % of the streams
/// leave UDP within 5 s of their first loss (`LossWatchTests`). With 2.5 s in both cases, 64 % did in a simulation.
///
/// It has no clock: times are passed in.
struct LossWatch {
    /// The state of a picture.
    enum Picture {
        /// The picture and those that it refers to are complete.
        case whole
        /// The picture itself is complete, but may refer to earlier pictures.
        case dependent
        /// Part of the picture, or of the data before it, is lost.
        case lossy
    }

    /// The time without complete pictures that is not yet compensated for (the debt).
    private var debt = Duration.zero
    /// The number of losses since the debt was last zero.
    private var losses = 0
    /// The number of times that pictures became damaged since the debt was last zero.
    private var spells = 0
    /// Whether pictures refer to a lost one.
    private var isSpoilt = false
    /// Whether there was a complete picture, or a stream without key frames has lasted long enough.
    private var hasBegun = false
    /// The time since which every picture has been complete.
    private var wholeSince: MonotonicTime?
    private var first: MonotonicTime?
    private var last: MonotonicTime?

    /// The maximum debt if pictures were damaged once, by more than one loss.
    private static let largestDebt = Duration.milliseconds(2500)
    /// The maximum debt if pictures were complete in between and then damaged again.
    private static let largestRepeatedDebt = Duration.milliseconds(1500)
    /// The ratio of the time with complete pictures to the time without that it compensates for.
    private static let recovery = 5
    /// The longest time that counts between two pictures: a server that sends nothing loses nothing.
    private static let longestStep = Duration.seconds(1)
    /// The time to wait for the first key frame.
    private static let longestBeginning = Duration.seconds(5)

    /// Whether every picture of the last minute was complete.
    var isCalm: Bool {
        guard let last, let wholeSince else { return false }
        return last - wholeSince >= Self.calm
    }

    private static let calm = Duration.seconds(60)

    /// Records the next picture, whether or not it is passed on.
    ///
    /// - Returns: whether too many pictures were lost.
    mutating func note(_ picture: Picture, at time: MonotonicTime) -> Bool {
        let step = last.map { max(.zero, min(time - $0, Self.longestStep)) } ?? .zero
        last = time
        let begin = first ?? time
        first = begin
        hasBegun = hasBegun || picture == .whole || time - begin >= Self.longestBeginning
        guard hasBegun else { return false }
        let wasSpoilt = isSpoilt
        isSpoilt =
            switch picture {
            case .whole: false
            case .dependent: isSpoilt
            case .lossy: true
            }
        wholeSince = isSpoilt ? nil : wholeSince ?? time
        if isSpoilt {
            debt += step
        } else {
            debt = max(.zero, debt - step / Self.recovery)
            if debt == .zero { (losses, spells) = (0, 0) }
        }
        if picture == .lossy { losses += 1 }
        if isSpoilt, !wasSpoilt { spells += 1 }
        return losses > 1 && debt >= Self.largestDebt || spells > 1 && debt >= Self.largestRepeatedDebt
    }
}
