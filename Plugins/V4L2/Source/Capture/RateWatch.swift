import InletCore

/// Measures a camera's real rate, which often differs from the configured one: most webcams halve it in dim light.
struct RateWatch {
    private let expected: Double?
    private var start: MonotonicTime?
    private var frames = 0
    private var isSlow = false

    /// The period over which a rate is measured.
    static let period = Duration.seconds(3)
    /// The fraction of the configured rate below which a notice is logged.
    static let tolerated = 0.75

    init(expected: Rational?) { self.expected = expected?.doubleValue }

    /// Records a frame and the frames that were lost before it.
    ///
    /// - Returns: the measured rate if it has become low enough for a notice.
    mutating func note(at time: MonotonicTime, lost: UInt64) -> Double? {
        guard let expected else { return nil }
        guard let start else {
            self.start = time
            return nil
        }
        frames += 1 + Int(clamping: lost)
        let elapsed = time - start
        guard elapsed >= Self.period else { return nil }
        let rate = Double(frames) * 1e9 / Double(elapsed.wholeNanoseconds)
        self.start = time
        frames = 0
        let wasSlow = isSlow
        isSlow = rate < Self.tolerated * expected
        return isSlow && !wasSlow ? rate : nil
    }
}
