import InletCore
import InletV4L2

/// The rate that a camera needs for the combined demand of all sinks: the lowest rate of its mode that misses no
/// frame.
///
/// Pure. A higher demand takes effect immediately, because a sink would miss frames. A lower one takes effect only
/// after it has lasted a while, because every change briefly stops the stream.
struct RateDemand: Sendable {
    private let rates: V4L2FrameRates
    /// The rate if no sink wants less.
    let highest: Rational
    /// The current rate.
    private(set) var current: Rational
    private var wanted: Rational
    private var since: MonotonicTime?

    /// The lowest rate that is set; a slower camera would appear to hang.
    static let least = Rational(1)
    /// The time for which a lower demand must last.
    static let patience = Duration.seconds(2)

    /// - Parameters:
    ///   - rates: the rates of the mode.
    ///   - highest: the rate if no sink wants less.
    init(rates: V4L2FrameRates, highest: Rational) {
        self.rates = rates
        self.highest = highest
        current = highest
        wanted = highest
    }

    /// Returns the lowest rate of the mode that meets the demand.
    func rate(for demand: SourceDemand) -> Rational {
        guard let wanted = demand.maximumFrameRate, wanted < highest else { return highest }
        let maximum = min(max(wanted, Self.least), highest)
        switch rates {
        case .discrete(let all):
            return all.filter { ($0 >= maximum || Negotiation.areAlike($0, maximum)) && $0 <= highest }.min() ?? highest
        case .range(let lowest, _): return max(lowest, maximum)
        }
    }

    /// Records the current demand.
    ///
    /// - Returns: the rate to change to; nil if the camera should keep its rate.
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

    /// Records the demand at the opening of the camera, before anything streams.
    ///
    /// - Returns: the rate to start with.
    mutating func begin(_ demand: SourceDemand) -> Rational {
        current = rate(for: demand)
        wanted = current
        return current
    }
}
