import InletCore

/// The reduction of a capture's pictures, to save processor time. Packets that are passed on as they are stay
/// as they are.
package struct PictureReduction: Sendable, Hashable {
    /// The number of pictures of which a sink gets one. The default is 1.
    package var rateDivisor = 1
    /// Whether sinks with viewers get half the width and half the height. A file keeps its size. The default is false.
    package var halvesSize = false
    /// Whether only key frames are decoded; of a source that has no packets, one picture a second is taken. The default
    /// is false.
    package var keyFramesOnly = false
    /// Whether sinks get no pictures at all. The default is false.
    package var isPaused = false
    /// The rate that was measured before it was reduced, for a source that states no rate; nil if it is not known.
    var measuredRate: Rational?

    package init() {}

    /// Records the source's rate, unless the rate is already reduced.
    ///
    /// - Parameters:
    ///   - rate: the recent rate in frames a second; nil if it is not known.
    ///   - before: the previous reduction.
    mutating func measure(_ rate: Double?, after before: PictureReduction) {
        guard rateDivisor > 1 else { return }
        if before.rateDivisor > 1 || before.keyFramesOnly || before.isPaused {
            measuredRate = before.measuredRate
        } else if let rate, let whole = Int(exactly: rate.rounded()), whole > 0 {
            measuredRate = Rational(whole)
        }
    }

    /// The rate of a source that states no rate, if no rate was measured.
    private static let usualRate = Rational(25)
    /// The least width and height.
    private static let smallest = 16

    /// Returns what remains of a sink's wants.
    ///
    /// - Parameters:
    ///   - format: the source's; nil if it has not been open.
    ///   - hasViewers: whether the size may change at any time.
    func reduce(_ wants: SinkWants, of format: SourceFormat?, hasViewers: Bool) -> SinkWants {
        var wants = wants
        if rateDivisor > 1 {
            let own = format?.frameRate ?? measuredRate
            let rate = [wants.maximumFrameRate, own].compactMap(\.self).min() ?? Self.usualRate
            let (over, overflow) = rate.denominator.multipliedReportingOverflow(by: rateDivisor)
            if !overflow, let part = Rational(exactly: rate.numerator, over: over) { wants.maximumFrameRate = part }
        }
        if keyFramesOnly, format?.hasPackets != true {
            wants.maximumFrameRate = min(wants.maximumFrameRate ?? Rational(1), Rational(1))
        }
        if halvesSize, hasViewers, wants.size == nil, let source = format?.size {
            // The side that is longer after any rotation.
            let side = max(source.width, source.height)
            let box = wants.largestSize ?? ImageSize(width: side, height: side)
            wants.largestSize = ImageSize(
                width: max(Self.smallest, min(box.width, side) / 2),
                height: max(Self.smallest, min(box.height, side) / 2))
        }
        return wants
    }
}
