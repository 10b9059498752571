package import InletCore

/// Finds gaps between the packets of a camera: times that are much longer than those between earlier packets. Pure.
package struct GapDetector {
    package init() {}

    /// A stretch without pictures.
    package struct Gap: Sendable, Hashable {
        /// The start of the gap, from the recording's first packet on.
        package var start: Duration
        package var length: Duration
    }

    /// The shortest gap.
    package static let shortest = Duration.milliseconds(500)
    /// A gap is at least this many times as long as the usual time.
    private static let factor = 3
    private var first: MonotonicTime?
    private var last: MonotonicTime?
    /// The usual time from packet to packet, as a moving average.
    private var usual: Duration?

    /// Adds a packet by its decoding time.
    ///
    /// - Returns: the gap before it, if there is one.
    package mutating func add(_ time: MonotonicTime) -> Gap? {
        guard let first, let last else {
            (first, last) = (time, time)
            return nil
        }
        guard time > last else { return nil }
        self.last = time
        let step = time - last
        guard let usual else {
            // The rate is not known yet.
            if step < Self.shortest { self.usual = step }
            return step > .seconds(10) ? Gap(start: last - first, length: step) : nil
        }
        if step > Self.shortest, step > usual * Self.factor {
            return Gap(start: last - first, length: step)
        }
        self.usual = (usual * 15 + step) / 16
        return nil
    }
}
