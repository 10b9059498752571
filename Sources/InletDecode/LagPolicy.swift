import InletCore

/// Decides which packets of a live stream are skipped when decoding does not keep up, so that no picture is later than
/// allowed and every decoded picture has everything that it refers to.
///
/// Pictures that no other refers to are skipped first. Then everything up to the newest queued key frame, and if none
/// is queued, the rest of the group of pictures. Streams that share the processors take turns (``DecodingTurns``):
/// streams in the middle of a group have priority, and among those the one of which the smallest share was decoded
/// lately. The others get no turn in time and skip the rest of their groups. So some streams are complete while others
/// are frozen, and they swap from group to group; without turns all would freeze at the same time.
///
/// It has no clock and no queue: times are passed in.
struct LagPolicy {
    /// A packet to be decoded next, and what is queued behind it.
    struct Packet {
        var isKey: Bool
        /// Whether no other picture refers to its picture.
        var isNonReference = false
        var arrival: MonotonicTime
        /// Whether a key frame is queued behind it.
        var precedesKey = false
        /// How many packets are queued behind it.
        var waiting = 0
    }

    /// The longest time from a packet's arrival to its picture.
    let limit: Duration
    /// The recent time to decode a packet.
    private var usualTime = Duration.zero
    /// The share of recent packets that was decoded, from 0 to 1.
    private var share = 1.0
    /// ``share`` when this group began.
    private var groupShare = 1.0
    /// Whether the rest of the group is skipped.
    private(set) var skipsGroup = false
    /// When the last key frame arrived, and how long after the one before.
    private var lastKey: MonotonicTime?
    private var keyDistance: Duration?
    private var lastLeftOut: MonotonicTime?
    private var lastShown: MonotonicTime?
    /// Until when a backlog is decoded as fast as possible: it is a burst that arrived at once, not a lack of time.
    private var catchUpEnd: MonotonicTime?
    /// A number from 0 to 1, different for each group, so that streams that were served alike still take turns.
    private var chance: Double
    private var generator: SplitMix64
    /// Whether packets are skipped, or were a moment ago.
    private(set) var isLagging = false

    /// The share of the limit that a picture may have used up before it is decoded, the usual time of decoding
    /// included.
    private static let margin = 0.95
    /// The time without a picture after which the stream's key frame is decoded next.
    private static let patience = Duration.milliseconds(1200)
    /// The longest group whose rest is skipped; longer ones are decoded completely: their rest is too much to skip.
    private static let longestGroup = Duration.seconds(5)
    /// The time without a skipped packet that ends an episode.
    private static let calm = Duration.seconds(2)
    /// The time for which a late picture is better than none.
    private static let longestWithoutPicture = Duration.seconds(1)
    /// The time without trouble after which a backlog counts as a burst.
    private static let burstDistance = Duration.seconds(5)

    /// - Parameter seed: any number, different for each stream.
    init(limit: Duration, seed: UInt64) {
        self.limit = limit
        generator = SplitMix64(seed: seed)
        chance = generator.fraction()
    }

    /// Whether a packet is skipped regardless of time, because packets that it refers to were. Called before
    /// ``decodes(_:at:)``.
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

    /// Returns the stream's rank if several wait for a processor: the least is next.
    func rank(isKey: Bool, at now: MonotonicTime) -> Double {
        let place = groupShare + chance / 64
        guard isKey else { return place }
        guard let lastShown else { return -.infinity }
        let wait = now - lastShown
        return wait > Self.patience ? -(wait / .seconds(1)) : place + 0.5
    }

    /// Returns whether the next packet is decoded.
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
            // A group that begins too late is skipped completely, except by a decoder that is never in time.
            skipsGroup =
                lag > limit
                && (packet.precedesKey || !isStarving(at: now) && !isCatchingUp(packet, lag, at: now))
            return !skipsGroup
        }
        let most = limit * Self.margin
        guard lag > (packet.isNonReference ? most / 2 : most) else { return true }
        if isCatchingUp(packet, lag, at: now) { return true }
        // If no key frame is expected soon, as with intra refresh, everything is decoded, and late pictures are not
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

    /// Notes that a packet was decoded.
    mutating func noteDecoding(took time: Duration) { usualTime += (time - usualTime) / 8 }

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
