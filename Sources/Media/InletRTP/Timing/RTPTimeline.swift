package import InletCore

/// Turns the RTP timestamps of a stream's access units, in the order of decoding, into presentation times that are
/// counted on over wraps and never jump.
///
/// Pictures that are shown in another order than they are decoded step back and forth by a few intervals: such steps
/// are kept. They go back no farther than the steps forward before them, as a picture that is decoded early is followed
/// by those that are shown before it. A step that neither that nor the time passed explains is a wrong timestamp: the
/// unit is placed half an interval after the one before. The third such unit in a row that continues the others is a
/// new timeline: the sender started again. Its times continue the earlier ones with the time that passed in between.
///
/// A stall of the network is not a jump: units that come late keep the distances of their timestamps, and the frame
/// clock decides what the delay means.
///
/// Units with the timestamp of the one before get a time one tick later each, so that no two have the same. Beyond the
/// second in a row, the sender's clock counts as stopped, and units are placed by their arrival.
package struct RTPTimeline: Sendable {
    /// The place of an access unit.
    package struct Placement: Sendable, Hashable {
        /// The presentation time in ticks of the stream's clock. The first unit's is 0; units that are shown before it
        /// have less.
        package var ticks: Int64
        /// Whether the unit begins a new timeline: the time since earlier units is that of their arrivals.
        package var isDiscontinuity = false
        /// Whether the unit's own timestamp was not used. It has no time of day either.
        package var isRestamped = false

        package init(ticks: Int64, isDiscontinuity: Bool = false, isRestamped: Bool = false) {
            self.ticks = ticks
            self.isDiscontinuity = isDiscontinuity
            self.isRestamped = isRestamped
        }
    }

    /// A unit by whose timestamp others are read.
    private struct Reference {
        var timestamp: UInt32
        var ticks: Int64
        var arrival: MonotonicTime

        /// Returns the ticks of a timestamp by the shortest way.
        func ticks(of other: UInt32) -> Int64 { ticks &+ Int64(Int32(bitPattern: other &- timestamp)) }
    }

    private let clockRate: Int64
    /// The unit whose own timestamp was used last.
    private var last: Reference?
    /// The latest place given, and when that unit arrived.
    private var newest: (ticks: Int64, arrival: MonotonicTime)?
    /// The least of arrival less timestamp, in ticks: how late a unit is counts from there.
    private var leastDelay: Int64 = 0
    /// The last step forward, in ticks.
    private var interval: Int64 = 0
    /// The longest of the recent steps beyond all units before, in ticks, which shrinks with each unit; 0 before the
    /// first.
    private var longestStep: Int64 = 0
    /// The last of the units in a row whose timestamps continue each other, but not the stream.
    private var candidate: (reference: Reference, count: Int)?
    /// Units in a row whose own timestamp was not used.
    private var unused = 0
    /// Units in a row with one timestamp, less one.
    private var repetitions = 0
    private var isBroken = false
    /// The units whose own timestamp was not used.
    package private(set) var restamped = 0
    /// The new timelines since the first.
    package private(set) var discontinuities = 0

    /// The largest step, in seconds, that is not a wrong timestamp: 16 pictures, the most that H.264 and HEVC reorder,
    /// at three a second.
    private static let largestStep: Int64 = 5
    /// The part of a second by which timestamps may always step back.
    private static let smallestStepBack: Int64 = 5
    /// The number of units in a row that make a new timeline.
    private static let confirmations = 3
    /// Units with the same timestamp, beyond the first, that are taken for pictures of one time.
    private static let largestRepetition = 1

    /// - Parameter clockRate: ticks a second, from 1000 to 1,000,000,000. Others become the nearest of these.
    package init(clockRate: Int) {
        self.clockRate = Int64(max(1000, min(clockRate, 1_000_000_000)))
    }

    /// Records that the next unit does not continue the others: the receiver reported a restart, or the stream was
    /// paused.
    package mutating func breakOff() { isBroken = newest != nil }

    /// Returns the place of the next access unit.
    package mutating func place(_ timestamp: UInt32, arrival: MonotonicTime) -> Placement {
        guard let last, let newest else { return begin(timestamp, ticks: 0, arrival: arrival) }
        if isBroken { return startAnew(timestamp, arrival: arrival) }
        let ticks = last.ticks(of: timestamp)
        guard isPlausible(ticks, after: max(last.ticks, newest.ticks), arrival: arrival) else {
            return doubt(timestamp, arrival: arrival)
        }
        candidate = nil
        repetitions = timestamp == last.timestamp ? repetitions + 1 : 0
        if repetitions > Self.largestRepetition { return restamp(by: passed(since: newest.arrival, until: arrival)) }
        unused = 0
        if ticks > last.ticks { interval = min(ticks - last.ticks, clockRate) }
        noteStep(ticks &- newest.ticks)
        noteDelay(ticks, since: last, arrival: arrival)
        self.last = Reference(timestamp: timestamp, ticks: ticks, arrival: arrival)
        let place = ticks &+ Int64(repetitions)
        if place >= newest.ticks { self.newest = (place, arrival) }
        return Placement(ticks: place)
    }

    private mutating func begin(_ timestamp: UInt32, ticks: Int64, arrival: MonotonicTime) -> Placement {
        last = Reference(timestamp: timestamp, ticks: ticks, arrival: arrival)
        newest = (ticks, arrival)
        leastDelay = self.ticks(arrival) &- ticks
        (candidate, unused, repetitions, isBroken) = (nil, 0, 0, false)
        return Placement(ticks: ticks)
    }

    private mutating func startAnew(_ timestamp: UInt32, arrival: MonotonicTime) -> Placement {
        let before = newest ?? (0, arrival)
        let ticks = before.ticks &+ max(1, passed(since: before.arrival, until: arrival))
        var placement = begin(timestamp, ticks: ticks, arrival: arrival)
        placement.isDiscontinuity = true
        discontinuities &+= 1
        return placement
    }

    /// Whether ticks may be those of the unit after the ones placed.
    private func isPlausible(_ ticks: Int64, after newest: Int64, arrival: MonotonicTime) -> Bool {
        let largest = Self.largestStep * clockRate
        let step = ticks &- newest
        // Small steps add up without a bound: servers may begin with seconds of earlier pictures at once.
        guard step > largest else { return step >= -largestStepBack }
        // Delayed packets may arrive all at once, but no picture arrives before it was taken.
        return self.ticks(arrival) &- ticks >= leastDelay &- largest
    }

    /// The farthest that a picture may be shown before one that is decoded earlier, in ticks.
    private var largestStepBack: Int64 {
        let largest = Self.largestStep * clockRate
        // Nothing is known of the order before the first step.
        guard longestStep > 0 else { return largest }
        return min(largest, max(2 * longestStep, clockRate / Self.smallestStepBack))
    }

    private mutating func noteStep(_ step: Int64) {
        guard step > 0 else { return }
        longestStep = max(min(step, Self.largestStep * clockRate / 2), longestStep - longestStep / 8)
    }

    /// Follows the least delay, which rises slowly: the sender's clock may be slower than the machine's.
    private mutating func noteDelay(_ ticks: Int64, since last: Reference, arrival: MonotonicTime) {
        let rise = max(0, passed(since: last.arrival, until: arrival)) / 128
        leastDelay = min(leastDelay &+ rise, self.ticks(arrival) &- ticks)
    }

    private mutating func doubt(_ timestamp: UInt32, arrival: MonotonicTime) -> Placement {
        let own = Reference(timestamp: timestamp, ticks: 0, arrival: arrival)
        var count = 1
        if let candidate {
            let step = candidate.reference.ticks(of: timestamp)
            let passed = passed(since: candidate.reference.arrival, until: arrival)
            let largest = Self.largestStep * clockRate
            if step >= -largest, step <= largest &+ max(0, passed), step != 0 { count = candidate.count + 1 }
        }
        if count >= Self.confirmations { return startAnew(timestamp, arrival: arrival) }
        candidate = (own, count)
        let passed = newest.map { self.passed(since: $0.arrival, until: arrival) } ?? 0
        // The first two leave room for the unit that continues the stream.
        return restamp(by: unused < Self.confirmations - 1 ? min(interval / 2, max(1, passed)) : passed)
    }

    private mutating func restamp(by step: Int64) -> Placement {
        guard let before = newest else { return Placement(ticks: 0) }
        let step = max(1, step)
        // Places by arrival count from the last arrival that they included.
        newest = (before.ticks &+ step, before.arrival + duration(step))
        unused &+= 1
        restamped &+= 1
        return Placement(ticks: before.ticks &+ step, isRestamped: true)
    }

    // MARK: Ticks and times

    private func ticks(_ time: MonotonicTime) -> Int64 {
        let (seconds, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds &* clockRate &+ rest &* clockRate / 1_000_000_000
    }

    private func passed(since start: MonotonicTime, until end: MonotonicTime) -> Int64 { ticks(end) &- ticks(start) }

    private func duration(_ ticks: Int64) -> Duration {
        .nanoseconds(ticks.multiplied(saturatingBy: 1_000_000_000) / clockRate)
    }
}
