import InletCore

/// Follows the PTS of one source over the wraps of its counter: every PTS becomes a position, in nanoseconds from the
/// first.
///
/// Holds one reference, the last PTS that was taken; others are read relative to it. The caller decides what a PTS that
/// does not fit means, so reading one changes nothing.
struct TimestampUnwrapper {
    /// A PTS as read: where it lies, and what ``take(_:)`` needs.
    struct Reading {
        /// Nanoseconds from the first PTS.
        var position: Int64
        fileprivate var raw: Int64
        fileprivate var ticks: Int64
        fileprivate var wrap: Int64
    }

    private let bits: Int?
    private var scale: TickScale
    private var wraps: WrapLengths
    /// The reference as the source gave it, and with its wraps undone, counted from ``base``.
    private var raw: Int64
    private var ticks: Int64 = 0
    /// The position of tick 0.
    private var base: Int64 = 0
    /// The position of the reference.
    private(set) var position: Int64 = 0
    /// The length of the wrap last seen, if it was guessed.
    private var lastWrap: Int64 = 0

    /// Starts with a PTS at position 0; returns nil if its time base is invalid.
    ///
    /// - Parameter bits: the width of the source's counter; nil, or a width that never wraps, makes it a guess.
    init?(startingAt pts: MediaTime, bits: Int?) {
        guard let scale = TickScale(pts.timeBase) else { return nil }
        self.scale = scale
        self.bits = bits.flatMap { (8...62).contains($0) ? $0 : nil }
        wraps = WrapLengths(scale)
        raw = pts.ticks
    }

    /// Returns the position of a PTS, by the shortest way from the reference; nil if it cannot be placed.
    mutating func read(_ pts: MediaTime) -> Reading? {
        if pts.timeBase != scale.timeBase, !change(to: pts.timeBase) { return nil }
        guard let (step, wrap) = step(to: pts.ticks) else { return nil }
        let (ticks, overflow) = self.ticks.addingReportingOverflow(step)
        guard !overflow, let length = scale.nanoseconds(ticks) else { return nil }
        let position = base &+ length
        guard position.magnitude <= FrameClock.limit else { return nil }
        return Reading(position: position, raw: pts.ticks, ticks: ticks, wrap: wrap)
    }

    /// Makes a PTS the reference.
    mutating func take(_ reading: Reading) {
        raw = reading.raw
        ticks = reading.ticks
        position = reading.position
        if reading.wrap != 0 { lastWrap = reading.wrap }
    }

    /// Returns the ticks from the reference to a PTS, with the wrap that was guessed, if any.
    private func step(to other: Int64) -> (step: Int64, wrap: Int64)? {
        if let bits {
            // The difference modulo the counter's width, taken for the shorter way.
            let unused = Int64(64 - bits)
            return (((other &- raw) << unused) >> unused, 0)
        }
        let (difference, overflow) = other.subtractingReportingOverflow(raw)
        guard !overflow else { return nil }
        if difference.magnitude <= wraps.tolerance { return (difference, 0) }
        // Back by about a whole counter: the counter wrapped.
        if let step = step(difference, over: wraps.rtp) { return (step, wraps.rtp) }
        if let step = step(difference, over: wraps.transportStream) { return (step, wraps.transportStream) }
        // Ahead by about as much, after a wrap has happened: a frame from before the wrap, out of order.
        if lastWrap != 0, difference > 0, (difference - lastWrap).magnitude <= wraps.tolerance {
            return (difference - lastWrap, 0)
        }
        return (difference, 0)
    }

    /// Returns the step that a difference would be across the end of a counter of that length, if that step is small.
    private func step(_ difference: Int64, over wrap: Int64) -> Int64? {
        guard difference < 0, wrap != 0 else { return nil }
        let step = difference + wrap
        return step.magnitude <= wraps.tolerance ? step : nil
    }

    /// Continues in ticks of another length, from the same reference.
    private mutating func change(to timeBase: Rational) -> Bool {
        guard let scale = TickScale(timeBase) else { return false }
        let old = MediaTime(ticks: raw, timeBase: self.scale.timeBase)
        raw = old.rescaled(to: timeBase).ticks
        // The rounding error from expressing the reference in whole ticks of the new length.
        let lost = old.nanoseconds.subtractingReportingOverflow(MediaTime(ticks: raw, timeBase: timeBase).nanoseconds)
        base = position - (lost.overflow || lost.partialValue.magnitude > FrameClock.limit ? 0 : lost.partialValue)
        ticks = 0
        self.scale = scale
        wraps = WrapLengths(scale)
        lastWrap = 0
        return true
    }
}

/// The lengths, in ticks of one time base, after which a counter of unknown width may have wrapped.
private struct WrapLengths {
    /// The largest step across a wrap, in nanoseconds: within that, a wrap is likelier than a new
    /// timeline.
    static let tolerance: Int64 = 10_000_000_000

    let tolerance: UInt64
    /// 32 bits of ticks (RFC 3550, section 5.1); 0 if a tick is so short that the tolerance would be most of it.
    let rtp: Int64
    /// 33 bits of 1/90000 s (ISO/IEC 13818-1, section 2.4.3.7), in whatever ticks they are now.
    let transportStream: Int64

    init(_ scale: TickScale) {
        tolerance = scale.ticks(in: Self.tolerance).magnitude
        rtp = tolerance < 1 << 29 ? 1 << 32 : 0
        transportStream = MediaTime(ticks: 1 << 33, timeBase: Rational(1, 90_000)).rescaled(to: scale.timeBase).ticks
    }
}
