import DequeModule
import InletCore

/// Decides which packets of a live stream are skipped when decoding does not keep up, so that no picture is later than
/// allowed and every decoded picture has everything that it refers to.
///
/// Pictures that no other refers to are skipped first, then the rest of a group of pictures, up to the next key frame.
///
/// Streams that share the processors, in one process or in many, do not know of each other. The system's scheduler
/// serves them alike, so they fall behind together; if they skipped together as well, the processors would be idle. So
/// a stream whose lag grows gives up its group by chance, the sooner the greater its lag. Each stream that gives up
/// leaves its time to the others, and as soon as enough have, the lag of the others does not grow any more. A stream
/// that often has to give up in the middle of a group skips some groups completely, with their key frames. A stream
/// that has shown nothing for a while takes precedence over the others.
///
/// It has no clock and no queue: times are passed in.
struct LagPolicy {
    /// A packet to be decoded next, and the packets queued after it.
    struct Packet {
        var isKey: Bool
        /// Whether no other picture refers to its picture.
        var isNonReference = false
        var arrival: MonotonicTime
        /// Whether a key frame is queued after it.
        var precedesKey = false
        /// The number of packets queued after it.
        var waiting = 0
    }

    /// The longest time from a packet's arrival to its picture.
    let limit: Duration
    /// The recent time to decode a packet: the processor's, and that which passed.
    private var usual = (processor: Duration.zero, elapsed: Duration.zero)
    /// Whether the rest of the group is skipped.
    private(set) var skipsGroup = false
    /// Whether the stream goes before the others in this group, because it had shown nothing for a while.
    private var hasPrecedence = false
    /// The lag of the last packet, and the number of packets queued after it.
    private var last: (lag: Duration, waiting: Int) = (.zero, 0)
    /// The number of packets in a row whose lag has not fallen.
    private var growth = 0
    /// The lags of the last packets of this group, the oldest first.
    private var lags: Deque<Duration> = []
    /// The packets of this group so far, those of them that were decoded, and the greatest lag of one.
    private var group = (packets: 0, decoded: 0, lag: Duration.zero)
    /// The probability that the next group is skipped completely.
    private var reluctance = 0.0
    /// The time at which the last key frame arrived, and the time between it and the previous one.
    private var lastKey: MonotonicTime?
    private var keyDistance: Duration?
    /// The time since which every packet's lag in this group has been over the limit; nil if the last one's was not.
    private var lateSince: MonotonicTime?
    /// The time at which a picture was last skipped that no other refers to.
    private var lastNonReference: MonotonicTime?
    private var lastLeftOut: MonotonicTime?
    private var lastShown: MonotonicTime?
    private var generator: SplitMix64
    /// Whether packets are skipped, or were a moment ago.
    private(set) var isLagging = false

    // The shares and probabilities are those with which simulated streams show the most pictures. Changing one of them
    // by a third hardly matters. Design 0018 has the figures.

    /// The share of the limit up to which a stream with growing lag never gives up its group.
    private static let patience = 0.5
    /// The share of the rest of the limit that is added to ``patience`` for a stream with precedence, and for a stream
    /// that recently skipped pictures to which no other refers.
    private static let precedence = 0.6
    /// The share of the limit from which a stream with growing lag gives up its group in any case.
    private static let excess = 1.3
    /// The probability that a packet is where the group is given up, at a lag of the limit.
    private static let hazard = 0.4
    /// The number of packets in a row in which lag must not fall. After a standstill it falls from the second on.
    private static let leastGrowth = 2
    /// The share of the limit by which lag must have grown within eight packets of the group: after key frames that
    /// coincide, lag is great but need not grow.
    private static let (growthShare, growthLength) = (0.05, 8)
    /// The increase of ``reluctance`` by a group that is given up at its beginning, the factor of a group that is
    /// decoded completely, and the greatest value.
    private static let (discouragement, encouragement, mostReluctance) = (0.4, 0.9, 0.8)
    /// The time without a picture after which no group is skipped completely.
    private static let longestWait = Duration.milliseconds(700)
    /// The time over the limit after which a group is given up, although its lag does not grow.
    private static let longestCatchUp = Duration.milliseconds(500)
    /// The share of the limit above which pictures are skipped that no other refers to.
    private static let nonReferencePatience = 0.25
    /// The ratio of elapsed to processor time above which other threads hinder the decoder.
    private static let contention = 1.2
    /// The longest group whose rest is skipped; longer ones are decoded completely: their rest is too much to skip.
    private static let longestGroup = Duration.seconds(5)
    /// The time without a skipped packet that ends an episode.
    private static let calm = Duration.seconds(2)
    /// The time for which a late picture is better than none.
    private static let longestWithoutPicture = Duration.seconds(1)

    /// - Parameters:
    ///   - limit: the longest time from a packet's arrival to its picture.
    ///   - seed: any number, different for each stream.
    init(limit: Duration, seed: UInt64) {
        self.limit = limit
        generator = SplitMix64(seed: seed)
    }

    /// Whether a packet is skipped regardless of time, because packets that it refers to were. Called before
    /// ``decodes(_:at:)``.
    mutating func leavesOut(isKey: Bool, at now: MonotonicTime) -> Bool {
        guard skipsGroup, !isKey else { return false }
        note(isTaken: false, at: now)
        return true
    }

    private mutating func note(isTaken: Bool, at now: MonotonicTime) {
        group.packets += 1
        guard isTaken else {
            (lastLeftOut, isLagging) = (now, true)
            return
        }
        group.decoded += 1
        if isLagging, let lastLeftOut, now - lastLeftOut > Self.calm { isLagging = false }
    }

    /// Returns whether the next packet is decoded.
    mutating func decodes(_ packet: Packet, at now: MonotonicTime) -> Bool {
        let age = now - packet.arrival
        let lag = age + usual.processor
        // A burst that arrived at once is older with each packet, but fewer are left.
        let isMore = lag > last.lag - .milliseconds(1) && packet.waiting >= last.waiting
        growth = isMore && lag > limit * Self.nonReferencePatience ? growth + 1 : 0
        last = (lag, packet.waiting)
        if packet.isKey || lag <= limit { lateSince = nil }
        if lag > limit { lateSince = lateSince ?? now }
        group.lag = max(group.lag, lag)
        // The newest queued key frame is decoded, however late it is.
        let isOvertaken = packet.precedesKey && age + usual.elapsed > limit
        let isTaken =
            packet.isKey
            ? takesKey(packet, isOvertaken: isOvertaken, at: now)
            : takesOther(packet, lag: lag, isOvertaken: isOvertaken, at: now)
        note(isTaken: isTaken, at: now)
        return isTaken
    }

    private mutating func takesKey(_ packet: Packet, isOvertaken: Bool, at now: MonotonicTime) -> Bool {
        keyDistance = lastKey.map { packet.arrival - $0 }
        lastKey = packet.arrival
        learnFromGroup()
        guard !isOvertaken, !(skipsGroup && packet.precedesKey) else {
            skipsGroup = true
            return false
        }
        hasPrecedence = lastShown.map { now - $0 > Self.longestWait } ?? true
        let maySkip = !hasPrecedence && isContended && keysAreNear(at: packet.arrival)
        skipsGroup = maySkip && generator.fraction() < reluctance
        return !skipsGroup
    }

    private mutating func learnFromGroup() {
        if skipsGroup, group.decoded > 0 {
            let skipped = 1 - Double(group.decoded) / Double(group.packets)
            reluctance = min(reluctance + Self.discouragement * skipped, Self.mostReluctance)
        } else if !skipsGroup {
            // Without overload the groups that were given up before teach nothing any more.
            reluctance *= group.lag <= limit * Self.patience ? 0.5 : Self.encouragement
        }
        group = (0, 0, .zero)
        lags.removeAll(keepingCapacity: true)
    }

    private mutating func takesOther(
        _ packet: Packet, lag: Duration, isOvertaken: Bool, at now: MonotonicTime
    ) -> Bool {
        if packet.isNonReference, packet.waiting > 0,
            lag > limit || growth > 0 && lag > limit * Self.nonReferencePatience
        {
            lastNonReference = now
            skipsGroup = isOvertaken
            return false
        }
        let oldest = lags.first ?? lag
        if lags.count == Self.growthLength { lags.removeFirst() }
        lags.append(lag)
        let grows = growth >= Self.leastGrowth && lag > oldest + limit * Self.growthShare
        // If no key frame is expected soon, as with intra refresh, everything is decoded, and late pictures are not
        // shown.
        guard packet.precedesKey || keysAreNear(at: packet.arrival) else { return true }
        let isTooLate = packet.waiting > 0 && lateSince.map { now - $0 > Self.longestCatchUp } ?? false
        skipsGroup =
            isOvertaken || !packet.isNonReference && (isTooLate || grows && givesUp(lag: lag, at: now))
        return !skipsGroup
    }

    private mutating func givesUp(lag: Duration, at now: MonotonicTime) -> Bool {
        // A decoder that is too slow by itself leaves no time to others.
        guard isContended else { return lag > limit }
        guard lag <= limit * Self.excess else { return true }
        let skipsOthers = lastNonReference.map { now - $0 < Self.calm } ?? false
        let patience =
            hasPrecedence || skipsOthers ? Self.patience + Self.precedence * (1 - Self.patience) : Self.patience
        let excess = (lag / limit - patience) / (1 - patience)
        return excess > 0 && generator.fraction() < Self.hazard * excess
    }

    /// Whether another key frame is expected soon: the last two were close, and the last is not long ago.
    private func keysAreNear(at arrival: MonotonicTime) -> Bool {
        guard let keyDistance, let lastKey else { return false }
        return keyDistance <= Self.longestGroup && arrival - lastKey <= Self.longestGroup
    }

    /// Whether no key frame has come for so long, or ever, that a stream that skips until the next one should request
    /// it.
    func lacksKey(at now: MonotonicTime) -> Bool { lastKey.map { now - $0 > Self.longestGroup } ?? true }

    /// Records that decoding continues at a key frame that was kept.
    mutating func resumeGroup() { skipsGroup = false }

    private var isContended: Bool { usual.elapsed > usual.processor * Self.contention }

    /// Records that a packet was decoded.
    ///
    /// - Parameters:
    ///   - elapsed: how long that took.
    ///   - processor: the processor time of the thread that decoded.
    mutating func noteDecoding(took elapsed: Duration, processor: Duration) {
        usual.elapsed += (elapsed - usual.elapsed) / 8
        usual.processor += (processor - usual.processor) / 8
    }

    /// Returns whether a picture is shown whose packet arrived at the given time.
    mutating func shows(arrival: MonotonicTime, at now: MonotonicTime) -> Bool {
        guard now - arrival <= limit || isStarving(at: now) else { return false }
        lastShown = now
        return true
    }

    private func isStarving(at now: MonotonicTime) -> Bool {
        lastShown.map { now - $0 > Self.longestWithoutPicture } ?? true
    }
}
