import InletCore

/// Keeps what ONVIF's header extension states about the access units that a recorder plays back, until they are
/// complete. It remembers as many units as a depacketizer queues, and the one that is being received.
struct ReplayedUnits {
    /// The extension's facts about an access unit.
    struct Facts {
        var timestamp: UInt32
        /// The time at which the picture was taken.
        var time: NTPTime
        /// Whether decoding may start at the unit.
        var isCleanPoint: Bool
        /// Whether the recording has a gap before the unit.
        var isAfterGap: Bool
    }

    // A ring, in the order of arrival. It has no memory until the first packet with the extension.
    private var units: [Facts] = []
    private var newest = -1
    private var endsSection = false

    private static let most = 65

    /// Records the extension of a packet.
    mutating func note(_ replay: ONVIFReplayExtension, at timestamp: UInt32) {
        if units.indices.contains(newest), units[newest].timestamp == timestamp {
            endsSection = endsSection || replay.isEndOfSection
            return
        }
        let facts = Facts(
            timestamp: timestamp, time: replay.time, isCleanPoint: replay.isCleanPoint,
            isAfterGap: replay.isDiscontinuity || endsSection)
        endsSection = replay.isEndOfSection
        newest = (newest + 1) % Self.most
        if newest < units.count { units[newest] = facts } else { units.append(facts) }
    }

    /// Returns the facts stated about the unit with that timestamp; nil without facts.
    func facts(of timestamp: UInt32) -> Facts? {
        for distance in units.indices {
            let facts = units[(newest - distance + units.count) % units.count]
            if facts.timestamp == timestamp { return facts }
        }
        return nil
    }

    /// Forgets all units.
    mutating func reset() { self = Self() }
}
