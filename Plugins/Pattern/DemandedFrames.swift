import InletCore

/// The frames of a pattern to draw: all of them, or evenly spaced ones if fewer are wanted.
struct DemandedFrames {
    /// The number of the first drawn frame.
    let first: UInt64
    /// Drawn frames are `across / down` frames apart.
    private let across: Int128
    private let down: Int128

    /// - Parameters:
    ///   - wanted: the wanted rate. With nil, or with at least `frameRate`, all frames are drawn.
    ///   - frameRate: the rate of the pattern.
    init(from first: UInt64, at wanted: Rational?, of frameRate: Rational) {
        self.first = first
        if let wanted, wanted > Rational(0), wanted < frameRate {
            across = Int128(frameRate.numerator) * Int128(wanted.denominator)
            down = Int128(frameRate.denominator) * Int128(wanted.numerator)
        } else {
            (across, down) = (1, 1)
        }
    }

    /// Returns the number of the frame nearest to the ideal position of the drawn frame with this index.
    func number(_ index: UInt64) -> UInt64 {
        let (places, overflow) = (2 * Int128(index)).multipliedReportingOverflow(by: across)
        guard !overflow else { return .max }
        let (number, overflowed) = first.addingReportingOverflow(UInt64(clamping: (places + down) / (2 * down)))
        return overflowed ? .max : number
    }

    /// Returns the number of drawn frames up to and including this frame number.
    func count(through number: UInt64) -> UInt64 {
        guard number >= first else { return 0 }
        // The indices with index * across / down < number - first + 1/2.
        let (halves, overflow) = (2 * Int128(number - first) + 1).multipliedReportingOverflow(by: down)
        guard !overflow else { return .max }
        return UInt64(clamping: (halves - 1) / (2 * across) + 1)
    }
}
