import InletCore

/// Decides when lost packets keep so many pictures away that another transport is worth an interruption.
///
/// A loss spoils every picture up to the next one that is whole and refers to none that is lost. The watch adds up the
/// time without whole pictures, and five times as long with them makes up for it. The limit is 1.5 s if pictures were
/// spoilt twice or more, otherwise 2.5 s. One loss alone decides nothing, however far apart key frames are, and neither
/// does the time before the first key frame.
///
/// With 1 % of the packets lost at random, 2 s between key frames and 2.2 packets a picture, 79 % of the streams are
/// given up within 5 s of their first loss (`LossWatchTests`). With 2.5 s in both cases, 64 % were in a simulation.
///
/// It has no clock: times are passed in.
struct LossWatch {
    /// The state of a picture.
    enum Picture {
        /// Whole, and so is what it refers to.
        case whole
        /// Whole by itself. It may refer to pictures before it.
        case dependent
        /// A part of it, or of what comes before it, is lost.
        case lossy
    }

    /// The time without whole pictures for which nothing has made up yet.
    private var debt = Duration.zero
    /// The number of losses since there was no debt.
    private var losses = 0
    /// How often pictures were spoilt since there was no debt.
    private var spells = 0
    /// Whether pictures refer to what is lost.
    private var isSpoilt = false
    /// Whether there was a whole picture, or a stream without key frames has lasted for long enough.
    private var hasBegun = false
    /// Since when every picture has been whole.
    private var wholeSince: MonotonicTime?
    private var first: MonotonicTime?
    private var last: MonotonicTime?

    /// The debt that is too much if pictures were spoilt once, by more than one loss.
    private static let largestDebt = Duration.milliseconds(2500)
    /// The debt that is too much if pictures were whole in between, and were spoilt again.
    private static let largestRepeatedDebt = Duration.milliseconds(1500)
    /// How much longer a time with whole pictures is than the time without that it makes up for.
    private static let recovery = 5
    /// The longest time that counts between two pictures: a server that sends nothing loses nothing.
    private static let longestStep = Duration.seconds(1)
    /// How long the first key frame is waited for.
    private static let longestBeginning = Duration.seconds(5)

    /// Whether every picture of the last minute was whole.
    var isCalm: Bool {
        guard let last, let wholeSince else { return false }
        return last - wholeSince >= Self.calm
    }

    private static let calm = Duration.seconds(60)

    /// Notes the next picture, whether or not it is passed on.
    ///
    /// - Returns: whether too many pictures were kept away.
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
