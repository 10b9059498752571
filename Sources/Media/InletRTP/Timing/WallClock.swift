import InletCore

/// Determines the time of day at which pictures were taken, from the sender's statements: reports of RTCP, the `Range:
/// clock=` of a reply to PLAY, or the header extension of ONVIF.
///
/// Times of day are nanoseconds since 1970. They are the sender's and never corrected: ``state`` is whether its clock
/// can be right. Senders that state jittery times are averaged; a single time that is far off is ignored.
package struct WallClock: Sendable {
    /// Whether times of day are known, and their reliability.
    package enum State: Sendable, Hashable {
        /// The sender has stated no time yet.
        case unknown
        /// The sender's clock was never set, or is more than a day off the machine's; by how much it is ahead.
        case unsynced(offset: Duration)
        /// The sender's clock is less than a day off the machine's, which the network's delay is part of.
        case synced(offset: Duration)
    }

    private struct Reference: Equatable {
        var timestamp: UInt32
        var time: Int64
    }

    private let clockRate: Int64
    private var reference: Reference?
    /// A statement that does not fit the others.
    private var candidate: Reference?
    /// The machine's time of day when the candidate was stated.
    private var candidateHost: Int64 = 0
    /// Statements averaged so far.
    private var count = 0
    /// The statement of the reply to PLAY, kept until the first unit to which it can apply.
    private var play: (reference: Reference, host: Int64)?
    /// The timestamp of the latest unit; nil while none has come since ``awaitsTimeline``.
    private var latest: UInt32?
    /// Whether no unit has come since the timestamps became unrelated to those before: statements in the meantime apply
    /// to the units that follow.
    private var awaitsTimeline = true
    /// The reliability of the times of day, by the last statement.
    package private(set) var state = State.unknown
    /// Statements that were not used because they do not fit the others.
    package private(set) var outliers = 0

    /// The largest distance, in seconds, between a timeline's first unit and the timestamp of a statement about it:
    /// servers may begin with a cached group of pictures.
    private static let nearest: Int64 = 60
    /// The largest distance of a statement from the others, in nanoseconds.
    private static let tolerance: Int64 = 500_000_000
    /// The greatest number of statements of which the average consists.
    private static let weight = 8
    /// A clock that was never set is less than this: the beginning of 2001. Devices begin in 1970 or 2000.
    private static let earliest: Int64 = 978_307_200_000_000_000
    private static let day: Int64 = 86_400_000_000_000

    /// - Parameter clockRate: ticks a second, as in ``RTPTimeline/init(clockRate:)``.
    package init(clockRate: Int) {
        self.clockRate = Int64(max(1000, min(clockRate, 1_000_000_000)))
    }

    /// Forgets all statements about the units so far. Called when the receiver reports a restart, or the stream was
    /// paused: later statements apply to the units that follow. The last reply to PLAY is kept if no unit has come
    /// since.
    package mutating func reset() {
        let (play, outliers) = (play, outliers)
        self = Self(clockRate: Int(clockRate))
        (self.play, self.outliers) = (play, outliers)
    }

    /// Records that timestamps from this one on are unrelated to earlier ones, as ``RTPTimeline`` reports. Statements
    /// stay if they were made since ``reset()``, or fit these timestamps and not the earlier ones.
    package mutating func beginTimeline(at timestamp: UInt32) {
        if !awaitsTimeline {
            let (candidate, host) = (candidate, candidateHost)
            reset()
            if let candidate, isNear(candidate, timestamp) { set(candidate, host: host) }
        }
        begin(at: timestamp)
    }

    /// Takes the statement of the reply to PLAY, if it can apply to this unit, the first of a timeline.
    private mutating func begin(at timestamp: UInt32) {
        awaitsTimeline = false
        if let stated = reference, isUnset(stated.timestamp, near: timestamp) {
            (reference, candidate, count, state) = (nil, nil, 0, .unknown)
            outliers &+= 1
        }
        guard let play else { return }
        self.play = nil
        guard isNear(play.reference, timestamp), reference == nil else { return }
        set(play.reference, host: play.host)
        // The first report is likely to be more exact.
        count = 0
    }

    /// Whether a stated timestamp is 0 because the sender does not fill it in: the stream is elsewhere. Times of day
    /// would be off by as much.
    private func isUnset(_ stated: UInt32, near timestamp: UInt32) -> Bool {
        stated == 0 && !isNear(Reference(timestamp: 0, time: 0), timestamp)
    }

    /// Whether a statement's timestamp is one that the stream has near this one. Servers state 0, or anything.
    private func isNear(_ stated: Reference, _ timestamp: UInt32) -> Bool {
        Int64(Int32(bitPattern: timestamp &- stated.timestamp).magnitude) <= Self.nearest &* clockRate
    }

    /// Records a report of the sender.
    ///
    /// - Parameters:
    ///   - ssrc: the synchronization source of the stream. Reports of others, and all while it is nil, are ignored.
    ///   - host: the machine's time of day when the report arrived.
    package mutating func note(_ report: SenderReport, of ssrc: UInt32?, host: Int64) {
        // A sender without a clock may state 0 (RFC 3550, section 6.4.1).
        guard report.ssrc == ssrc, report.time.value != 0 else { return }
        if let latest, isUnset(report.timestamp, near: latest) {
            outliers &+= 1
            return
        }
        note(report.time.nanoseconds(near: host), at: report.timestamp, host: host)
    }

    /// Records the time of an access unit's own header extension. It is exact, so it is not averaged.
    package mutating func note(_ replayed: NTPTime, at timestamp: UInt32, host: Int64) {
        guard replayed.value != 0 else { return }
        set(Reference(timestamp: timestamp, time: replayed.nanoseconds(near: host)), host: host, isRecorded: true)
    }

    /// Records the time that the reply to PLAY states for a timestamp. It counts from the first unit of the timeline
    /// that the reply is about until a report states a time.
    package mutating func notePlay(_ time: Int64, at timestamp: UInt32, host: Int64) {
        play = (Reference(timestamp: timestamp, time: time), host)
    }

    /// Returns the time of day of a timestamp; nil while none is known.
    ///
    /// It is called for every access unit, so that timestamps are counted on over wraps.
    package mutating func time(of timestamp: UInt32) -> Int64? {
        if awaitsTimeline || play != nil { begin(at: timestamp) }
        latest = timestamp
        guard let reference else { return nil }
        let time = Self.time(of: timestamp, from: reference, clockRate)
        // The shortest way leads to the right time only within half a wrap of the reference.
        if (timestamp &- reference.timestamp) &- 1 << 30 < 1 << 30 {
            self.reference = Reference(timestamp: timestamp, time: time)
        }
        return time
    }

    private mutating func note(_ time: Int64, at timestamp: UInt32, host: Int64) {
        let stated = Reference(timestamp: timestamp, time: time)
        guard let reference, count > 0 else { return set(stated, host: host) }
        let expected = Self.time(of: timestamp, from: reference, clockRate)
        let error = time.subtracting(saturating: expected)
        guard error.magnitude <= UInt64(Self.tolerance) else { return doubt(stated, host: host) }
        count = min(count + 1, Self.weight)
        candidate = nil
        self.reference = Reference(timestamp: timestamp, time: expected &+ error / Int64(count))
        updateState(host: host, time: time)
    }

    /// Keeps a time that does not fit the others: the second that fits the first means that the sender's clock was set.
    private mutating func doubt(_ stated: Reference, host: Int64) {
        if let candidate {
            let expected = Self.time(of: stated.timestamp, from: candidate, clockRate)
            let error = stated.time.subtracting(saturating: expected)
            if error.magnitude <= UInt64(Self.tolerance), stated != candidate { return set(stated, host: host) }
        }
        outliers &+= 1
        candidate = stated
        candidateHost = host
    }

    private mutating func set(_ stated: Reference, host: Int64, isRecorded: Bool = false) {
        reference = stated
        candidate = nil
        count = 1
        updateState(host: host, time: stated.time, isRecorded: isRecorded)
    }

    /// A recording may be of any day since clocks were set.
    private mutating func updateState(host: Int64, time: Int64, isRecorded: Bool = false) {
        let offset = time.subtracting(saturating: host)
        let isSynced = time >= Self.earliest && (offset.magnitude <= UInt64(Self.day) || isRecorded)
        state = isSynced ? .synced(offset: .nanoseconds(offset)) : .unsynced(offset: .nanoseconds(offset))
    }

    private static func time(of timestamp: UInt32, from reference: Reference, _ clockRate: Int64) -> Int64 {
        let ticks = Int64(Int32(bitPattern: timestamp &- reference.timestamp))
        // 31 bits of ticks times 30 bits of nanoseconds fit.
        return reference.time.adding(saturating: ticks &* 1_000_000_000 / clockRate)
    }
}
