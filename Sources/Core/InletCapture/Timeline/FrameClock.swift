import InletCore

/// Gives every frame its place on one monotonic timeline: derived from the PTS, strictly increasing, over all sessions
/// of one capturer.
///
/// A paced source's frames get the time at which they were taken, plus the least recent delay, and never a time later
/// than their arrival. Frames of a source that runs ahead of the clock keep the spacing of their PTS to the nanosecond.
///
/// Confined to the capture thread. Reads no clock itself, so tests pass any times they like.
/// `Docs/design/0009-frame-clock.md` explains how it handles each irregularity.
struct FrameClock {
    /// The basis of a frame's timestamp.
    enum Basis: Sendable, Hashable {
        /// Its PTS.
        case pts
        /// Its arrival: it had no PTS, or one that does not continue from earlier ones.
        case arrival
    }

    /// A frame's place in time.
    struct Stamp: Sendable, Hashable {
        var time: MonotonicTime
        var basis: Basis
        /// The time of day in nanoseconds since 1970, once the source has reported it for one frame since it was
        /// opened.
        var wallClock: Int64?
    }

    /// The bound of all times that the clock computes with: 36 years, so that a sum of a few stays within 64 bits.
    static let limit: Int64 = 1 << 60
    /// The largest lead of a frame over its expected arrival before its PTS is suspect, in nanoseconds.
    private static let largestLead = 500e6
    /// The largest delay after the expected arrival: no network delays pictures for longer.
    private static let largestDelay = 30e9
    /// The longest gap within a source that is not paced: a recording that starts on motion has such gaps, and they are
    /// kept.
    private static let largestGap: Int64 = 86_400_000_000_000
    /// The longest interval that is accepted as the one to the next frame.
    private static let largestInterval: Int64 = 1_000_000_000
    /// The number of frames in a row, with PTS that continue from each other but not from earlier ones, that make a new
    /// timeline.
    private static let confirmations = 3

    /// A timeline to which frames with suspect PTS may belong.
    private struct Candidate {
        var timeline: TimestampUnwrapper
        var count = 1
        /// The least difference of arrival and position.
        var delay: Int64
    }

    private var pacing: SourcePacing
    private var timestampBits: Int?
    private var timeline: TimestampUnwrapper?
    private var candidate: Candidate?
    private var filter = DriftFilter()
    /// The offset added to positions if nothing is filtered.
    private var offset: Int64 = 0
    private var wallClock = WallClockMap()
    /// The last frame's timestamp and arrival.
    private var last: Int64?
    private var lastArrival = -limit
    /// The last step of the PTS.
    private var interval: Int64 = 0
    /// The number of consecutive frames without a usable PTS.
    private var withoutPTS = 0
    /// Whether the next frame follows a break whose length only the machine's clock knows.
    private var isReconnected = false

    /// - Parameter timestampBits: as in ``SourceFormat/timestampBits``.
    init(pacing: SourcePacing, timestampBits: Int? = nil) {
        self.pacing = pacing
        self.timestampBits = timestampBits
    }

    /// Continues with the frames of a source that was reopened: its PTS and its time of day are unrelated to those
    /// before, but the timeline continues, with a gap as long as the reopening took.
    mutating func reconnect(pacing: SourcePacing, timestampBits: Int? = nil) {
        self.pacing = pacing
        self.timestampBits = timestampBits
        (timeline, candidate) = (nil, nil)
        wallClock = WallClockMap()
        isReconnected = true
    }

    /// Records that something else took a place on the timeline: the next frame is placed after it.
    ///
    /// Only an unpaced source is moved. Frames of other sources have their own time, whatever was shown meanwhile.
    mutating func skip(to time: MonotonicTime) {
        if pacing == .unpaced { last = max(last ?? .min, min(Self.limit, time.nanoseconds)) }
    }

    /// Returns the place of the next frame.
    ///
    /// - Parameters:
    ///   - pts: the source's own time; if nil, the frame's arrival counts.
    ///   - arrival: when the frame arrived, or when the device took it, if that is known; at most now.
    ///   - startsAnew: the PTS is unrelated to earlier ones.
    ///   - wallClock: the time of day of this frame, if the source reports it.
    mutating func stamp(
        pts: MediaTime?, arrival: MonotonicTime, startsAnew: Bool, wallClock given: Int64? = nil
    ) -> Stamp {
        // A device's time that runs backwards is not an arrival.
        let now = max(lastArrival, min(Self.limit, arrival.nanoseconds))
        lastArrival = now
        if startsAnew { (timeline, candidate) = (nil, nil) }
        let placement = place(pts, now: now)
        isReconnected = false
        var time = placement.time
        if let last, time <= last { time = last + 1 }
        last = time
        let wallClock = wallClock.time(
            given: given, stamp: time, position: placement.position, startsAnew: placement.startsAnew,
            rate: pacing == .unpaced ? 0 : filter.rate)
        return Stamp(
            time: MonotonicTime(nanoseconds: time), basis: placement.position == nil ? .arrival : .pts,
            wallClock: wallClock)
    }

    private struct Placement {
        var time: Int64
        /// The frame's position on the source's timeline; nil if it cannot be derived from the PTS.
        var position: Int64?
        var startsAnew = false
    }

    private mutating func place(_ pts: MediaTime?, now: Int64) -> Placement {
        guard let pts else { return guess(now: now) }
        guard let previous = timeline?.position else { return start(at: pts, now: now) }
        guard let reading = timeline?.read(pts), isPlausible(reading.position, after: previous, now: now) else {
            return doubt(pts, now: now)
        }
        timeline?.take(reading)
        candidate = nil
        withoutPTS = 0
        let step = reading.position - previous
        interval = min(step, Self.largestInterval)
        guard pacing != .unpaced else { return Placement(time: offset + reading.position, position: reading.position) }
        // If earlier frames were stamped by their arrival, the frame's own time may be taken already: time then
        // advances at half speed.
        let time = filter.time(of: reading.position, arrival: now)
        return Placement(time: min(now, max(time, (last ?? time) + step / 2)), position: reading.position)
    }

    /// Whether a position is plausible as the next one.
    private func isPlausible(_ position: Int64, after previous: Int64, now: Int64) -> Bool {
        guard position > previous else { return false }
        guard pacing != .unpaced else {
            return position - previous <= Self.largestGap && offset + position <= Self.limit
        }
        return (-Self.largestLead...Self.largestDelay).contains(filter.lateness(of: position, arrival: now))
    }

    /// Starts a timeline with a frame.
    private mutating func start(at pts: MediaTime, now: Int64) -> Placement {
        guard let timeline = TimestampUnwrapper(startingAt: pts, bits: timestampBits) else { return guess(now: now) }
        self.timeline = timeline
        return anchor(position: 0, at: next(now: now))
    }

    private mutating func anchor(position: Int64, at time: Int64) -> Placement {
        candidate = nil
        withoutPTS = 0
        filter.anchor(position: position, at: time)
        offset = time - position
        return Placement(time: time, position: position, startsAnew: true)
    }

    /// Places a frame whose PTS does not continue from earlier ones: either one bad PTS or a new timeline.
    private mutating func doubt(_ pts: MediaTime, now: Int64) -> Placement {
        if var candidate, let reading = candidate.timeline.read(pts) {
            let step = reading.position - candidate.timeline.position
            let delay = now - reading.position
            let follows =
                pacing == .unpaced
                ? step <= Self.largestGap
                : (-Self.largestLead...Self.largestDelay).contains(Double(delay - candidate.delay))
            if step > 0, follows {
                candidate.timeline.take(reading)
                candidate.count += 1
                candidate.delay = min(candidate.delay, delay)
                self.candidate = candidate
                guard candidate.count >= Self.confirmations else { return guess(now: now) }
                timeline = candidate.timeline
                interval = min(step, Self.largestInterval)
                // The least delay of the new timeline's frames, but after the last frame.
                let time = pacing == .unpaced ? next(now: now) : reading.position + candidate.delay
                return anchor(position: reading.position, at: last.map { max(time, $0 + 1) } ?? time)
            }
        }
        candidate = TimestampUnwrapper(startingAt: pts, bits: timestampBits).map { Candidate(timeline: $0, delay: now) }
        return guess(now: now)
    }

    /// Places a frame without its PTS: the first few so that the next has room, later ones by their arrival.
    private mutating func guess(now: Int64) -> Placement {
        withoutPTS += 1
        guard let last, timeline != nil, interval > 0, withoutPTS < Self.confirmations else {
            return Placement(time: next(now: now))
        }
        let time = last + interval / 2
        return Placement(time: pacing == .unpaced ? time : min(now, time))
    }

    /// Returns the place of a frame of which nothing is known except that it follows the last.
    private func next(now: Int64) -> Int64 {
        guard let last else { return now }
        guard pacing == .unpaced else { return max(now, last + 1) }
        let time = last + max(1, interval)
        return isReconnected || interval == 0 ? max(now, time) : time
    }
}
