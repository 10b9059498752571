import InletCore

/// Detects when the time of a stream's packets steps back: an encoder upstream of a relay was restarted, or a counter
/// wrapped, as that of MPEG-TS does after 26.5 hours.
///
/// Packets arrive in decoding order, so times go back and forth a little when pictures are reordered. This is not a
/// step.
struct TimelineWatch {
    /// The most by which pictures are reordered, in ticks.
    private let reordering: Int64
    /// The most by which muxers let decoding times go back, in ticks.
    private let jitter: Int64
    private var lastDTS: Int64?
    private var lastKeyPTS: Int64?
    private var newestPTS: Int64?

    init(timeBase: Rational) {
        func ticks(_ seconds: Int64) -> Int64 {
            MediaTime(ticks: seconds, timeBase: Rational(1)).rescaled(to: timeBase).ticks
        }
        // A few pictures at one a second.
        reordering = ticks(10)
        jitter = ticks(1)
    }

    /// Records the next packet, with its times in ticks.
    ///
    /// - Returns: whether its time is before that of earlier packets.
    mutating func stepsBack(isKey: Bool, pts: Int64?, dts: Int64?) -> Bool {
        // Key frames are never reordered.
        let isStep =
            dts.isBefore(lastDTS, by: jitter) || isKey && pts.isBefore(lastKeyPTS, by: 0)
            || pts.isBefore(newestPTS, by: reordering)
        if isStep { reset() }
        lastDTS = dts ?? lastDTS
        newestPTS = [newestPTS, pts].compactMap { $0 }.max()
        if isKey { lastKeyPTS = pts ?? lastKeyPTS }
        return isStep
    }

    /// Forgets the packets so far, after a known jump.
    mutating func reset() { (lastDTS, lastKeyPTS, newestPTS) = (nil, nil, nil) }
}

extension Int64? {
    /// Whether both are known and this is before the other, by more than the distance.
    fileprivate func isBefore(_ other: Int64?, by distance: Int64) -> Bool {
        guard let self, let other else { return false }
        return self < other.subtracting(saturating: distance)
    }
}
