import InletCore

/// Decides which packets of a live stream are left out where decoding does not keep up, so that no picture is later
/// than it may be and every picture that is decoded has all that it refers to.
///
/// Pictures that no other refers to go first. Then everything up to the newest key frame that waits, and where none
/// waits, the rest of the group of pictures. Streams that share the processors take turns (``DecodingTurns``): first
/// come streams in the midst of a group, and of those the one that was served least lately. The others get no turn in
/// time and leave out the rest of their groups. So some streams are whole while others stand still, and they change
/// places from group to group; without turns all would stand still at the same time.
///
/// Knows no clock and no queue: times are handed in.
struct LagPolicy {
    /// A packet that is to be decoded next, and what waits behind it.
    struct Packet {
        var isKey: Bool
        /// No other picture refers to its picture.
        var isNonReference = false
        var arrival: MonotonicTime
        /// A key frame waits behind it.
        var precedesKey = false
        /// How many packets wait behind it.
        var waiting = 0
    }

    /// From a packet's arrival to its picture.
    let limit: Duration
    /// How long a packet takes to be decoded, lately.
    private var usualTime = Duration.zero
    /// The part of the packets that was decoded lately, from 0 to 1.
    private var share = 1.0
    /// ``share`` when this group began.
    private var groupShare = 1.0
    /// The rest of the group is left out.
    private(set) var skipsGroup = false
    /// When the last key frame came, and how long after the one before.
    private var lastKey: MonotonicTime?
    private var keyDistance: Duration?
    private var lastLeftOut: MonotonicTime?
    private var lastShown: MonotonicTime?
    /// A backlog is decoded as fast as that goes until then: a burst that came at once, and no lack of time.
    private var catchUpEnd: MonotonicTime?
    /// From 0 to 1, another for each group: streams that were served alike take turns all the same.
    private var chance: Double
    private var generator: SplitMix64
    /// Whether packets are left out, or were a moment ago.
    private(set) var isLagging = false

    /// The part of the limit that a picture may have used up before it is decoded, the usual time of decoding included.
    private static let margin = 0.95
    /// A stream that has shown nothing for so long is the next whose key frame is decoded.
    private static let patience = Duration.milliseconds(1200)
    /// Groups that last longer are decoded whole: their rest is too much to leave out.
    private static let longestGroup = Duration.seconds(5)
    /// So long without anything left out ends an episode.
    private static let calm = Duration.seconds(2)
    /// A picture that is late is better than none for so long.
    private static let longestWithoutPicture = Duration.seconds(1)
    /// A backlog after so long without trouble is a burst.
    private static let burstDistance = Duration.seconds(5)

    /// - Parameter seed: any number, another for each stream.
    init(limit: Duration, seed: UInt64) {
        self.limit = limit
        generator = SplitMix64(seed: seed)
        chance = generator.fraction()
    }

    /// Whether a packet is left out whatever the time, as those are that it refers to. Asked before ``decodes(_:at:)``.
    mutating func leavesOut(isKey: Bool, at now: MonotonicTime) -> Bool {
        guard skipsGroup, !isKey else { return false }
        note(isTaken: false, at: now)
        return true
    }

    private mutating func note(isTaken: Bool, at now: MonotonicTime) {
        share += ((isTaken ? 1 : 0) - share) / 192
        if !isTaken {
            lastLeftOut = now
            isLagging = true
        } else if isLagging, let lastLeftOut, now - lastLeftOut > Self.calm {
            isLagging = false
        }
    }

    /// Which stream is next where several wait for a processor: the one of the least number.
    func rank(isKey: Bool, at now: MonotonicTime) -> Double {
        let place = groupShare + chance / 64
        guard isKey else { return place }
        guard let lastShown else { return -.infinity }
        let wait = now - lastShown
        return wait > Self.patience ? -(wait / .seconds(1)) : place + 0.5
    }

    /// Whether the next packet is decoded.
    mutating func decodes(_ packet: Packet, at now: MonotonicTime) -> Bool {
        let isTaken = judge(packet, at: now)
        note(isTaken: isTaken, at: now)
        return isTaken
    }

    private mutating func judge(_ packet: Packet, at now: MonotonicTime) -> Bool {
        let lag = now - packet.arrival + usualTime
        if packet.isKey {
            chance = generator.fraction()
            groupShare = share
            keyDistance = lastKey.map { packet.arrival - $0 }
            lastKey = packet.arrival
            // A group that begins too late is left out as a whole, but for a decoder that is never in time.
            skipsGroup =
                lag > limit
                && (packet.precedesKey || !isStarving(at: now) && !isCatchingUp(packet, lag, at: now))
            return !skipsGroup
        }
        let most = limit * Self.margin
        guard lag > (packet.isNonReference ? most / 2 : most) else { return true }
        if isCatchingUp(packet, lag, at: now) { return true }
        // Where no key frame is to be expected soon, as with intra refresh, all is decoded, and what is late is not
        // shown.
        let hasKeys = packet.precedesKey || keyDistance.map { $0 <= Self.longestGroup } ?? false
        if hasKeys, !packet.isNonReference || packet.precedesKey { skipsGroup = true }
        return !skipsGroup && !packet.isNonReference
    }

    private mutating func isCatchingUp(_ packet: Packet, _ lag: Duration, at now: MonotonicTime) -> Bool {
        if let catchUpEnd, now < catchUpEnd { return true }
        if let lastLeftOut, now - lastLeftOut < Self.burstDistance { return false }
        if let catchUpEnd, now - catchUpEnd < Self.burstDistance { return false }
        let backlog = usualTime * (packet.waiting + 1)
        guard backlog <= limit * 2 else { return false }
        catchUpEnd = now + backlog + limit
        return true
    }

    /// A packet was decoded.
    mutating func noteDecoding(took time: Duration) { usualTime += (time - usualTime) / 8 }

    /// Whether a picture whose packet arrived then is shown.
    mutating func shows(arrival: MonotonicTime, at now: MonotonicTime) -> Bool {
        guard now - arrival <= limit || isStarving(at: now) else { return false }
        lastShown = now
        return true
    }

    private func isStarving(at now: MonotonicTime) -> Bool {
        lastShown.map { now - $0 > Self.longestWithoutPicture } ?? true
    }
}
