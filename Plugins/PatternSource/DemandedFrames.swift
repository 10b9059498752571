import InletCore

/// Which of a pattern's frames are drawn: all of them, or evenly spaced ones where fewer are wanted.
struct DemandedFrames {
    /// The number of the first of them.
    let first: UInt64
    /// From one to the next it is `across / down` frames.
    private let across: Int128
    private let down: Int128

    /// - Parameters:
    ///   - wanted: frames a second; nil, or what is no lower than `frameRate`, for all of them.
    ///   - frameRate: frames a second that there are.
    init(from first: UInt64, at wanted: Rational?, of frameRate: Rational) {
        self.first = first
        if let wanted, wanted > Rational(0), wanted < frameRate {
            across = Int128(frameRate.numerator) * Int128(wanted.denominator)
            down = Int128(frameRate.denominator) * Int128(wanted.numerator)
        } else {
            (across, down) = (1, 1)
        }
    }

    /// The number of the frame that lies nearest to the place of the one with this index.
    func number(_ index: UInt64) -> UInt64 {
        let (places, overflow) = (2 * Int128(index)).multipliedReportingOverflow(by: across)
        guard !overflow else { return .max }
        let (number, overflowed) = first.addingReportingOverflow(UInt64(clamping: (places + down) / (2 * down)))
        return overflowed ? .max : number
    }

    /// How many of them have numbers up to this one.
    func count(through number: UInt64) -> UInt64 {
        guard number >= first else { return 0 }
        // Those with index * across / down < number - first + 1/2.
        let (halves, overflow) = (2 * Int128(number - first) + 1).multipliedReportingOverflow(by: down)
        guard !overflow else { return .max }
        return UInt64(clamping: (halves - 1) / (2 * across) + 1)
    }
}
