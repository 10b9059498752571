import InletCore

/// Decides when lost packets keep so many pictures away that another transport is worth an interruption.
///
/// A loss spoils every picture up to the next whole key frame. The watch adds up the time without whole pictures, and
/// five times as long with them makes up for it. One loss alone decides nothing, however far apart key frames are.
///
/// It has no clock: times are passed in.
struct LossWatch {
    /// The time without whole pictures for which nothing has made up yet.
    private var debt = Duration.zero
    /// The number of losses since there was no debt.
    private var losses = 0
    /// Whether pictures refer to what is lost.
    private var isSpoilt = false
    private var last: MonotonicTime?

    private static let largestDebt = Duration.milliseconds(2500)
    /// How much of a debt a time with whole pictures makes up for.
    private static let recovery = 5
    /// The longest time that counts between two pictures: a server that sends nothing loses nothing.
    private static let longestStep = Duration.seconds(1)

    /// Notes the next picture.
    ///
    /// - Parameters:
    ///   - isLost: whether a part of it, or of what comes before it, is lost.
    ///   - isStart: whether it is whole, and refers to none before it.
    /// - Returns: whether too many pictures were kept away.
    mutating func note(isLost: Bool, isStart: Bool, at time: MonotonicTime) -> Bool {
        let step = last.map { max(.zero, min(time - $0, Self.longestStep)) } ?? .zero
        last = time
        if isLost || isSpoilt && !isStart {
            debt += step
        } else {
            debt = max(.zero, debt - step / Self.recovery)
            if debt == .zero { losses = 0 }
        }
        if isLost { losses += 1 }
        isSpoilt = !isStart && (isSpoilt || isLost)
        return losses > 1 && debt >= Self.largestDebt
    }
}
