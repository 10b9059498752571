import InletCore

/// Gives every frame its place on one monotonic timeline: derived from the PTS, strictly increasing, over all sessions
/// of one capturer.
///
/// A paced source's frames get the time at which they were taken, plus the least delay seen lately, and never one later
/// than their arrival. Those of a source that runs ahead of the clock keep the spacing of their PTS to the nanosecond.
///
/// Confined to the capture thread; knows no clock of its own, so tests feed it any times they like.
/// `Docs/design/0009-frame-clock.md` says what it makes of each trouble, and why.
struct FrameClock {
    /// What a frame's timestamp is made from.
    enum Basis: Sendable, Hashable {
        /// Its PTS.
        case pts
        /// When it arrived: it had no PTS, or one that does not go on from those before.
        case arrival
    }

    /// A frame's place in time.
    struct Stamp: Sendable, Hashable {
        var time: MonotonicTime
        var basis: Basis
        /// The time of day in nanoseconds since 1970, as soon as the source has told that of one frame since it was
        /// opened.
        var wallClock: Int64?
    }

    /// No time that the clock reckons with is further from zero: 36 years, so that no sum of a few leaves 64 bits.
    static let limit: Int64 = 1 << 60
    /// How much earlier than expected a frame may come before its PTS is suspect, in nanoseconds.
    private static let largestLead = 500e6
    /// How much later: no network holds pictures back for longer.
    private static let largestDelay = 30e9
    /// The longest gap within a source that is not paced: a recording that starts on motion has such gaps, and they are
    /// kept.
    private static let largestGap: Int64 = 86_400_000_000_000
    /// The longest interval that is taken for the one to the next frame.
    private static let largestInterval: Int64 = 1_000_000_000
    /// So many frames in a row whose PTS go on from each other, but not from those before, are a new timeline.
    private static let confirmations = 3

    /// A timeline that frames with suspect PTS may be on.
    private struct Candidate {
        var timeline: TimestampUnwrapper
        var count = 1
        /// The least of the arrivals less the positions.
        var delay: Int64
    }

    private var pacing: SourcePacing
    private var timestampBits: Int?
    private var timeline: TimestampUnwrapper?
    private var candidate: Candidate?
    private var filter = DriftFilter()
    /// What is added to positions where nothing is filtered.
    private var offset: Int64 = 0
    private var wallClock = WallClockMap()
    /// The last frame's timestamp and arrival.
    private var last: Int64?
    private var lastArrival = -limit
    /// The last step of the PTS.
    private var interval: Int64 = 0
    /// How many frames in a row had no PTS to go by.
    private var withoutPTS = 0
    /// The next frame lies after a break of which only the machine's clock knows the length.
    private var isReconnected = false

    /// - Parameter timestampBits: as in ``SourceFormat/timestampBits``.
    init(pacing: SourcePacing, timestampBits: Int? = nil) {
        self.pacing = pacing
        self.timestampBits = timestampBits
    }

    /// Goes on with the frames of a source that was opened anew: its PTS and its time of day have nothing to do with
    /// those before, but the timeline goes on, with a gap as long as it took.
    mutating func reconnect(pacing: SourcePacing, timestampBits: Int? = nil) {
        self.pacing = pacing
        self.timestampBits = timestampBits
        (timeline, candidate) = (nil, nil)
        wallClock = WallClockMap()
        isReconnected = true
    }

    /// Something else took a place on the timeline: the next frame comes after it.
    ///
    /// Only a source that is not paced is moved. The frames of another have their own time, whatever was shown
    /// meanwhile.
    mutating func skip(to time: MonotonicTime) {
        if pacing == .unpaced { last = max(last ?? .min, min(Self.limit, time.nanoseconds)) }
    }

    /// The place of the next frame.
    ///
    /// - Parameters:
    ///   - pts: the source's own time; nil makes the frame's arrival count.
    ///   - arrival: when the frame was there, or when the device took it, where that is known; at most now.
    ///   - startsAnew: the PTS has nothing to do with those before.
    ///   - wallClock: the time of day of this frame, where the source tells it.
    mutating func stamp(
        pts: MediaTime?, arrival: MonotonicTime, startsAnew: Bool, wallClock given: Int64? = nil
    ) -> Stamp {
        // A device's time that goes back is no arrival.
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
        /// Where the frame lies on the source's timeline; nil where its PTS does not say.
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
        // Where frames before this one were stamped by their arrival, its own time may be taken: time then goes on at
        // half its speed.
        let time = filter.time(of: reading.position, arrival: now)
        return Placement(time: min(now, max(time, (last ?? time) + step / 2)), position: reading.position)
    }

    /// Whether a position can be the next one.
    private func isPlausible(_ position: Int64, after previous: Int64, now: Int64) -> Bool {
        guard position > previous else { return false }
        guard pacing != .unpaced else {
            return position - previous <= Self.largestGap && offset + position <= Self.limit
        }
        return (-Self.largestLead...Self.largestDelay).contains(filter.lateness(of: position, arrival: now))
    }

    /// Begins a timeline with a frame.
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

    /// Places a frame whose PTS does not go on from those before, which may be one bad PTS or a new timeline.
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

    /// Places a frame without its PTS: the first few so that the next has room, then by their arrival.
    private mutating func guess(now: Int64) -> Placement {
        withoutPTS += 1
        guard let last, timeline != nil, interval > 0, withoutPTS < Self.confirmations else {
            return Placement(time: next(now: now))
        }
        let time = last + interval / 2
        return Placement(time: pacing == .unpaced ? time : min(now, time))
    }

    /// Where a frame goes of which nothing is known but that it comes after the last.
    private func next(now: Int64) -> Int64 {
        guard let last else { return now }
        guard pacing == .unpaced else { return max(now, last + 1) }
        let time = last + max(1, interval)
        return isReconnected || interval == 0 ? max(now, time) : time
    }
}
