import InletCore

/// Decides which packets of a stream are worth decoding and which pictures are shown.
///
/// It withholds pictures that a loss has damaged until the picture is complete again, and pictures before the point at
/// which decoding began. It checks the stream twice: packets, because none is worth decoding between a loss and the
/// next key frame, and pictures, because the decoder may find damage although no loss was reported.
///
/// No other part of a source compares the times of a stream with each other to skip something. A reference time lasts
/// until the first picture that has passed it, and a step back in time (``TimelineWatch``) invalidates it: a stream
/// whose time restarts continues at once.
struct PictureGate {
    /// The known facts about a packet before it is decoded. Times are in ticks.
    struct Packet {
        var isKey: Bool
        var pts: Int64?
        var dts: Int64?
        /// Whether it is incomplete, or something is missing before it.
        var lacksSomething = false
    }

    /// The known facts about a decoded picture. The time is in ticks.
    struct Picture {
        var isKey: Bool
        var isDamaged = false
        var time: Int64?
    }

    /// The decision about a packet.
    enum Admission: Equatable {
        case decode
        /// The reason is nil if nothing is lost: a stream is joined between two key frames.
        case keepBack(DropReason?)
    }

    /// The decision about a picture.
    enum Verdict: Equatable {
        case deliver, mark
        /// The reason is nil if the picture is not lost: it precedes the requested start, or the point at which a
        /// stream is joined.
        case keepBack(DropReason?)
    }

    private let policy: DamagePolicy
    private let isLive: Bool
    /// Whether pictures are incomplete since a loss. True at first for a live stream, which is joined in its middle.
    private(set) var isBroken: Bool
    /// The time at which the key frame is shown that has been sent to the decoder since the loss, as far as that is
    /// known.
    private var key: Int64??
    /// The time at which the key frame is shown that was incomplete but was decoded nevertheless.
    private var lackingKey: Int64??
    /// Whether a packet has been admitted.
    private var hasJoined: Bool
    /// The number of packets refused in a row.
    private(set) var refusals = 0
    private var watch: TimelineWatch
    /// The time of the key frame at which decoding began: pictures that are shown before it refer to others that were
    /// not decoded.
    private var firstWhole: (time: Int64, reason: DropReason?)?
    /// The time before which pictures are decoded only for those that follow.
    private var start: Int64?
    /// The time of the first incomplete picture since the last complete one.
    private var incompleteSince: Int64?
    /// The time for which ``DamagePolicy/automatic`` withholds incomplete pictures, in ticks: after a loss, and at
    /// first. Within that time most cameras send a key frame, and no source is given up.
    private let longestWait: (loss: Int64, key: Int64)

    /// A stream without a key frame in this many packets refreshes its picture in another way. The decoder then reports
    /// which pictures are complete.
    private static let patience = 600

    init(_ policy: DamagePolicy, isLive: Bool, timeBase: Rational) {
        self.policy = policy
        self.isLive = isLive
        isBroken = isLive
        hasJoined = !isLive
        watch = TimelineWatch(timeBase: timeBase)
        func ticks(_ seconds: Int64) -> Int64 {
            MediaTime(ticks: seconds, timeBase: Rational(1)).rescaled(to: timeBase).ticks
        }
        longestWait = (ticks(2), ticks(6))
    }

    // MARK: The beginning of decoding

    /// Records that a part of the stream is missing.
    mutating func noteLoss() {
        isBroken = true
        key = nil
    }

    /// Sets the time before which pictures are not wanted.
    mutating func begin(at time: Int64) { start = time }

    /// Records that packets were skipped on purpose, and decoding continues with this key frame.
    ///
    /// - Parameter reason: the reason for which the skipped packets count as lost; nil if they do not.
    mutating func resume(at packet: Packet, reason: DropReason? = nil) {
        let reason = reason ?? firstWhole?.reason
        firstWhole = packet.pts.map { ($0, reason) }
    }

    /// Records that the stream is read from its beginning again.
    mutating func rewind() {
        (firstWhole, start, incompleteSince) = (nil, nil, nil)
        watch.reset()
    }

    // MARK: Packets and pictures

    /// Records the times of the next packet, before ``admit(_:)``.
    ///
    /// - Returns: whether the stream's time steps back there, so that nothing before it can be compared with what
    ///   follows.
    mutating func stepsBack(_ packet: Packet) -> Bool {
        guard watch.stepsBack(isKey: packet.isKey, pts: packet.pts, dts: packet.dts) else { return false }
        (firstWhole, start, incompleteSince) = (nil, nil, nil)
        return true
    }

    /// Decides whether a packet is decoded. After a loss, reported by the packet or ``noteLoss()``, the first is a key
    /// frame.
    mutating func admit(_ packet: Packet) -> Admission {
        if packet.lacksSomething { noteLoss() }
        guard isBroken else { return .decode }
        // A file is decoded throughout, as a seek or a cut in it is no loss.
        guard isLive, policy == .drop else {
            if packet.isKey {
                key = packet.lacksSomething ? nil : .some(packet.pts)
                lackingKey = packet.lacksSomething ? .some(packet.pts) : nil
                hasJoined = true
            } else if !hasJoined {
                refusals += 1
                hasJoined = refusals >= Self.patience
            }
            return .decode
        }
        guard !packet.lacksSomething, packet.isKey || refusals >= Self.patience else {
            if !packet.lacksSomething { refusals += 1 }
            return .keepBack(hasJoined ? .damaged : nil)
        }
        key = packet.isKey ? .some(packet.pts) : nil
        isBroken = false
        refusals = 0
        firstWhole = packet.pts.map { ($0, hasJoined ? .damaged : nil) }
        hasJoined = true
        return .decode
    }

    /// Decides whether the next picture is shown.
    mutating func judge(_ picture: Picture) -> Verdict {
        let lacksSomething = picture.isKey && lackingKey.map { $0 == picture.time } ?? false
        if lacksSomething { lackingKey = nil }
        if picture.isDamaged || lacksSomething {
            noteLoss()
        } else if picture.isKey || isFromKey(picture) {
            isBroken = false
        }
        if isBroken, isWithheld(picture) { return .keepBack(hasJoined ? .damaged : nil) }
        if !isBroken { incompleteSince = nil }
        if let time = picture.time {
            if let start, time < start { return .keepBack(nil) }
            start = nil
            if let firstWhole, time < firstWhole.time { return .keepBack(firstWhole.reason) }
            firstWhole = nil
        }
        return isBroken && policy != .show ? .mark : .deliver
    }

    /// Whether a picture is the key frame's since the loss, or is shown after it.
    private func isFromKey(_ picture: Picture) -> Bool {
        guard let key else { return false }
        guard let key, let time = picture.time else { return true }
        return time >= key
    }

    /// Whether an incomplete picture is not shown.
    private mutating func isWithheld(_ picture: Picture) -> Bool {
        switch policy {
        case .drop: return true
        case .mark, .show: return false
        case .automatic:
            guard let time = picture.time else { return true }
            let since = incompleteSince ?? time
            incompleteSince = min(since, time)
            let wait = hasJoined ? longestWait.loss : longestWait.key
            return time.subtractingReportingOverflow(since).partialValue < wait
        }
    }
}
