/// Computes when a frame was taken, on the machine's clock, from its position on the source's clock and from the
/// arrival times of frames.
///
/// A frame arrives late by its transit time, never early, so the least delay seen is the difference of the two clocks.
/// The filter keeps the least delay of each second, lays the lowest line through those of the last minute whose slope
/// two clocks can have, and moves its own offset towards that line too slowly for anyone to see.
/// `Docs/design/0009-frame-clock.md` has the reasons and the figures.
///
/// All times are in nanoseconds. Nothing is allocated after the start.
struct DriftFilter {
    /// The greatest rate difference of the source's clock and the machine's that is followed: cameras are off by up to
    /// 3000 ppm.
    static let largestRate = 3500e-6
    /// The largest change of the spacing of frames while the offset moves towards the line.
    static let largestSlew = 5000e-6
    /// The time in which the offset covers most of its way to the line.
    private static let settling = 2e9
    private static let bucketLength: Int64 = 1_000_000_000
    private static let bucketCount = 64
    /// The span of the line from which its slope is trusted.
    private static let fullSpan = 5e9
    /// The share of each new slope in the rate: much at first, little in the long run.
    private static let gains = (largest: 0.5, sum: 6.0, smallest: 0.04)
    /// The delay is permanently higher, not because of congestion that clears, when it has been more than this above
    /// the line for that long, and did not shrink by that part of the time.
    private static let shift = 250e6
    private static let shiftTime: Int64 = 3_000_000_000
    private static let shiftDrain = 0.02

    /// A frame's position, and how much later it arrived than the anchor predicts.
    private struct Sample {
        var position: Int64
        var delay: Double
    }

    /// The origin of the delays: the anchor's arrival minus its position.
    private var epoch: Int64 = 0
    private var samples: [Sample] = []
    private var hull: [Sample] = []
    /// The frame with the least delay in the bucket being filled, and when that bucket began.
    private var least = Sample(position: 0, delay: 0)
    private var bucketStart: Int64 = 0
    /// The growth of the delay with the position: the slowness of the source's clock.
    private(set) var rate = 0.0
    /// The number of lines with a slope since the anchor.
    private var fits = 0.0
    /// A point of the lowest line.
    private var line = Sample(position: 0, delay: 0)
    /// The offset applied to the last frame.
    private var offset = Sample(position: 0, delay: 0)
    /// The time since which the delay has been higher than expected, and by how much at first.
    private var lateSince: (time: Int64, excess: Double)?

    init() {
        samples.reserveCapacity(Self.bucketCount)
        hull.reserveCapacity(Self.bucketCount)
    }

    /// Forgets everything but the rate: the given position corresponds to the given time from now on.
    mutating func anchor(position: Int64, at time: Int64) {
        epoch = time &- position
        samples.removeAll(keepingCapacity: true)
        least = Sample(position: position, delay: 0)
        (line, offset) = (least, least)
        bucketStart = time
        lateSince = nil
        fits = 0
    }

    /// Returns how much later than expected a frame of this position arrived; less than zero if it arrived too early to
    /// be true.
    func lateness(of position: Int64, arrival: Int64) -> Double {
        delay(of: position, arrival: arrival) - extended(offset, to: position)
    }

    /// Returns the time of a frame, at most its arrival.
    ///
    /// Positions and arrivals never go back.
    mutating func time(of position: Int64, arrival: Int64) -> Int64 {
        let sample = Sample(position: position, delay: delay(of: position, arrival: arrival))
        if arrival &- bucketStart >= Self.bucketLength {
            closeBucket(at: arrival)
            least = sample
            bucketStart = arrival
        } else if sample.delay < extended(least, to: position) {
            least = sample
        }
        if sample.delay < extended(line, to: position) { line = sample }

        let elapsed = Double(position &- offset.position)
        let expected = extended(offset, to: position)
        let wanted = (extended(line, to: position) - expected) * min(1, elapsed / Self.settling)
        let most = Self.largestSlew * elapsed
        offset = Sample(
            position: position, delay: min(sample.delay, expected + max(-most, min(most, wanted))))
        return min(arrival, epoch &+ position &+ Int64(offset.delay.rounded(.down)))
    }

    private func delay(of position: Int64, arrival: Int64) -> Double { Double(arrival &- position &- epoch) }

    /// Returns the delay that a sample predicts at another position.
    private func extended(_ sample: Sample, to position: Int64) -> Double {
        sample.delay + rate * Double(position &- sample.position)
    }

    private mutating func closeBucket(at arrival: Int64) {
        if samples.count == Self.bucketCount { samples.removeFirst() }
        samples.append(least)
        if hasShifted(at: arrival) {
            // Earlier samples are useless for the offset; the clocks' rates have not changed.
            samples.removeFirst(samples.count - min(2, samples.count))
            lateSince = nil
            fitLine()
            offset = Sample(position: offset.position, delay: extended(line, to: offset.position))
        } else {
            fitLine()
        }
    }

    /// Returns whether frames have been late for so long that they will remain so: the sender was paused, and its clock
    /// with it.
    private mutating func hasShifted(at arrival: Int64) -> Bool {
        let excess = least.delay - extended(line, to: least.position)
        guard excess > Self.shift else {
            lateSince = nil
            return false
        }
        guard let since = lateSince else {
            lateSince = (arrival, excess)
            return false
        }
        let elapsed = arrival &- since.time
        if since.excess - excess > Self.shiftDrain * Double(elapsed) {
            lateSince = (arrival, excess)
            return false
        }
        return elapsed >= Self.shiftTime
    }

    /// Fits the lowest line: the edge of the lower convex hull in the middle of the samples that count (Moon, Skelly
    /// and Towsley, "Estimation and Removal of Clock Skew from Network Delay Measurements", INFOCOM 1999).
    private mutating func fitLine() {
        hull.removeAll(keepingCapacity: true)
        for sample in samples {
            while hull.count >= 2, !isConvex(hull[hull.count - 2], hull[hull.count - 1], sample) { hull.removeLast() }
            hull.append(sample)
        }
        // The slopes rise along the hull. Points before one that falls too steeply are from when the delay was larger;
        // points after one that rises too steeply were late.
        var (first, last) = (0, hull.count - 1)
        while first < last, slope(hull[first], hull[first + 1]) < -Self.largestRate { first += 1 }
        while last > first, slope(hull[last - 1], hull[last]) > Self.largestRate { last -= 1 }
        if first < last {
            let newest = hull[hull.count - 1].position
            let middle = hull[first].position + (newest - hull[first].position) / 2
            var edge = first
            while edge < last - 1, hull[edge + 1].position < middle { edge += 1 }
            let trust = min(1, Double(hull[last].position - hull[first].position) / Self.fullSpan)
            fits += 1
            let gain = max(Self.gains.smallest, min(Self.gains.largest, Self.gains.sum / fits))
            rate += gain * trust * trust * (slope(hull[edge], hull[edge + 1]) - rate)
        }
        line = hull[first]
        for sample in hull[first...last] where sample.delay < extended(line, to: sample.position) { line = sample }
    }

    /// Whether the slopes rise at the middle one of three samples.
    private func isConvex(_ first: Sample, _ middle: Sample, _ last: Sample) -> Bool {
        (middle.delay - first.delay) * Double(last.position &- middle.position)
            < (last.delay - middle.delay) * Double(middle.position &- first.position)
    }

    private func slope(_ left: Sample, _ right: Sample) -> Double {
        (right.delay - left.delay) / Double(max(1, right.position &- left.position))
    }
}
