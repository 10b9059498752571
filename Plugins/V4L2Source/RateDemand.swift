import InletCore
import InletV4L2

/// Which rate a camera should have, by what all sinks together want: the lowest of its mode that misses nothing.
///
/// Pure. More is met at once, as somebody would miss it; less only when it has been wanted for a while, as every change
/// stops the stream for a moment.
struct RateDemand: Sendable {
    private let rates: V4L2FrameRates
    /// The rate that is set where nobody wants less.
    let highest: Rational
    /// The rate that is set.
    private(set) var current: Rational
    private var wanted: Rational
    private var since: MonotonicTime?

    /// A camera that is slower than this looks as if it hung.
    static let least = Rational(1)
    /// For how long less must have been wanted.
    static let patience = Duration.seconds(2)

    /// - Parameters:
    ///   - rates: of the mode.
    ///   - highest: what is set where nobody wants less.
    init(rates: V4L2FrameRates, highest: Rational) {
        self.rates = rates
        self.highest = highest
        current = highest
        wanted = highest
    }

    /// The lowest rate of the mode that is as high as the demand.
    func rate(for demand: SourceDemand) -> Rational {
        guard let wanted = demand.maximumFrameRate, wanted < highest else { return highest }
        let maximum = min(max(wanted, Self.least), highest)
        switch rates {
        case .discrete(let all):
            return all.filter { ($0 >= maximum || Negotiation.areAlike($0, maximum)) && $0 <= highest }.min() ?? highest
        case .range(let lowest, _): return max(lowest, maximum)
        }
    }

    /// Takes in what is wanted now.
    ///
    /// - Returns: the rate to go to; nil where the camera is to be left alone.
    mutating func follow(_ demand: SourceDemand, at now: MonotonicTime) -> Rational? {
        let rate = rate(for: demand)
        if rate != wanted || since == nil {
            wanted = rate
            since = now
        }
        guard rate != current, let since, rate > current || now - since >= Self.patience else { return nil }
        current = rate
        return rate
    }

    /// Takes in what was wanted when the camera was opened, before which nothing streamed.
    ///
    /// - Returns: the rate to begin with.
    mutating func begin(_ demand: SourceDemand) -> Rational {
        current = rate(for: demand)
        wanted = current
        return current
    }
}
