package import InletCore

/// One of the encodings of a source.
package struct EncodingID: Sendable, Hashable {
    /// The codec of the encoding.
    package var codec: VideoCodec
    /// The tier, from 0, the largest pictures; ``sourceTier`` for the source's own packets.
    package var tier: Int

    /// The tier of the source's own packets, which are not encoded here: better than every other.
    package static let sourceTier = -1

    /// Whether this is the tier of the source's own packets.
    package var isSource: Bool { tier == Self.sourceTier }

    package init(codec: VideoCodec, tier: Int) {
        self.codec = codec
        self.tier = tier
    }
}

/// Decides which encodings run, how, and which of them each viewer receives. Holds no clock and no encoder.
///
/// A viewer gets the best tier that its own bit rate allows; the slowest viewer on a tier sets the bit rate of that
/// tier and of no other. Moving down is immediate. Moving up waits, longer each time that it was too early: a link is
/// known to carry more only once it has.
package struct EncodingPlanner: Sendable {
    /// The settings of an encoding.
    package struct Order: Sendable, Hashable {
        /// The bit rate, in bits a second.
        package var bitrate: Int
        /// The index of the ladder's step.
        package var step: Int

        package init(bitrate: Int, step: Int) {
            self.bitrate = bitrate
            self.step = step
        }
    }

    /// The wait from joining a tier to moving up. The default is 3 seconds.
    package static let patience = Duration.seconds(3)
    /// The longest wait of a viewer that fell back repeatedly.
    package static let longestPatience = Duration.seconds(60)
    /// The time within which falling back means that moving up was too early.
    package static let trial = Duration.seconds(15)

    /// The available steps. Changing the ladder, as when the source's size changes, restarts the planning.
    package var ladder: PictureLadder {
        didSet {
            guard ladder != oldValue else { return }
            orders = [:]
            for name in viewers.keys { viewers[name]?.step = nil }
        }
    }
    /// The source's own H.264 packets, if they can go to viewers unchanged.
    package var source: (profile: H264Profile, bitrate: Int)?
    /// The highest bit rate of any encoding, in bits a second.
    package let maximum: Int
    /// The orders for the encodings that have viewers, as of the last ``plan(at:keeping:)``.
    package private(set) var orders: [EncodingID: Order] = [:]
    private var viewers: [String: Viewer] = [:]
    private var stepTimes: [EncodingID: MonotonicTime] = [:]

    private struct Viewer: Sendable {
        var codec: VideoCodec
        var profile: String?
        var bitrate: Int
        var sustained: Int
        var step: Int?
        var tier = 0
        var since: MonotonicTime?
        var patience = EncodingPlanner.patience
        var wentUp: MonotonicTime?
    }

    package init(ladder: PictureLadder, maximum: Int) {
        self.ladder = ladder
        self.maximum = maximum
    }

    /// Adds a viewer.
    ///
    /// - Parameters:
    ///   - viewer: its name.
    ///   - codec: the codec that it is sent.
    ///   - bitrate: the target bit rate, in bits a second.
    ///   - profile: for H.264, the negotiated `profile-level-id`, which decides whether it may decode the source's own
    ///     packets. With the default, nil, it does not get them.
    package mutating func add(_ viewer: String, codec: VideoCodec, bitrate: Int, profile: String? = nil) {
        viewers[viewer] = Viewer(codec: codec, profile: profile, bitrate: bitrate, sustained: bitrate)
    }

    /// Updates the bit rate of a viewer.
    ///
    /// - Parameters:
    ///   - bitrate: bits a second.
    ///   - sustained: the capacity of its path, by which its tier is chosen, if that differs. The default, nil, is the
    ///     same.
    ///   - viewer: its name.
    package mutating func set(bitrate: Int, sustained: Int? = nil, of viewer: String) {
        viewers[viewer]?.bitrate = bitrate
        viewers[viewer]?.sustained = sustained ?? bitrate
    }

    /// Removes a viewer.
    package mutating func remove(_ viewer: String) { viewers[viewer] = nil }

    /// Returns the encoding of a viewer, as of the last ``plan(at:keeping:)``; nil if it joined since.
    package func encoding(of viewer: String) -> EncodingID? {
        guard let viewer = viewers[viewer], viewer.step != nil else { return nil }
        return EncodingID(codec: viewer.codec, tier: viewer.tier)
    }

    /// Plans again.
    ///
    /// - Parameters:
    ///   - now: the time.
    ///   - kept: encodings that continue unchanged although no viewer should receive them, because viewers have yet to
    ///     change over.
    package mutating func plan(at now: MonotonicTime, keeping kept: Set<EncodingID> = []) {
        var lowest: [EncodingID: (bitrate: Int, sustained: Int)] = [:]
        for name in viewers.keys {
            guard var viewer = viewers[name] else { continue }
            place(&viewer, at: now)
            viewers[name] = viewer
            let id = EncodingID(codec: viewer.codec, tier: viewer.tier)
            let other = lowest[id] ?? (.max, .max)
            lowest[id] = (min(other.bitrate, viewer.bitrate), min(other.sustained, viewer.sustained))
        }
        for id in Array(orders.keys) where lowest[id] == nil && !kept.contains(id) {
            orders[id] = nil
            stepTimes[id] = nil
        }
        for (id, rates) in lowest {
            if id.isSource {
                orders[id] = Order(bitrate: source?.bitrate ?? 0, step: 0)
                continue
            }
            let most = id.tier == 0 ? maximum : min(maximum, ladder.ceiling(of: id.tier))
            let step = step(of: id, for: rates.sustained, at: now)
            orders[id] = Order(bitrate: min(rates.bitrate, most), step: step)
        }
    }

    private func place(_ viewer: inout Viewer, at now: MonotonicTime) {
        let step = ladder.step(for: viewer.sustained, from: viewer.step)
        let tier = bearsSource(viewer) ? EncodingID.sourceTier : ladder.tier(of: step)
        guard viewer.step != nil, let since = viewer.since else {
            (viewer.step, viewer.tier, viewer.since) = (step, tier, now)
            return
        }
        if tier > viewer.tier {
            if let wentUp = viewer.wentUp, now - wentUp < Self.trial {
                viewer.patience = min(viewer.patience * 2, Self.longestPatience)
            }
            (viewer.tier, viewer.since, viewer.wentUp) = (tier, now, nil)
        } else if tier < viewer.tier {
            // The step stays unchanged, so that the margin still counts when the time is over.
            guard now - since >= viewer.patience else { return }
            (viewer.tier, viewer.since, viewer.wentUp) = (tier, now, now)
        } else if let wentUp = viewer.wentUp, now - wentUp >= Self.trial {
            (viewer.patience, viewer.wentUp) = (Self.patience, nil)
        }
        viewer.step = step
    }

    /// Returns whether a viewer's path can carry the source's own packets: with a margin if it does not receive them
    /// yet.
    private func bearsSource(_ viewer: Viewer) -> Bool {
        guard let source, let profile = viewer.profile, viewer.codec == .h264, source.profile.isTaken(by: profile)
        else { return false }
        let isOn = viewer.step == nil || viewer.tier == EncodingID.sourceTier
        return Double(viewer.sustained) >= Double(source.bitrate) * (isOn ? 1 : 1.1)
    }

    private mutating func step(of id: EncodingID, for bitrate: Int, at now: MonotonicTime) -> Int {
        let range = ladder.steps(of: id.tier)
        guard let old = orders[id]?.step, range.contains(old) else {
            stepTimes[id] = now
            return ladder.step(for: bitrate, in: range)
        }
        let step = ladder.step(for: bitrate, from: old, in: range)
        if step < old, let time = stepTimes[id], now - time < Self.patience { return old }
        if step != old { stepTimes[id] = now }
        return step
    }
}
