package import InletCore

/// The limits of a depacketizer, and the facts about the stream that it knows in advance.
package struct DepacketizerSettings: Sendable, Hashable {
    /// The treatment of an access unit with a missing part.
    package enum DamagePolicy: Sendable, Hashable {
        /// The unit is dropped and counted.
        case drop
        /// The unit is returned, marked as damaged.
        case pass
    }

    /// The most bytes of an access unit. A larger one is dropped. The default is 8 MiB.
    package var maximumSize = 8 << 20
    /// The most NAL units of an access unit. A larger unit is dropped. The default is 4096.
    package var maximumNALs = 4096
    /// The most bytes that access units may hold at once, including units not yet released. The default is
    /// 64 MiB.
    package var poolSize = 64 << 20
    /// The most access units that may be held at once. The default is 256.
    package var poolUnits = 256
    /// The treatment of damaged units. The default is to drop them.
    package var damage = DamagePolicy.drop
    /// The time for which a stream without usable markers must be quiet before its picture counts as complete. The
    /// default is 5 ms. It grows for a sender that turns out to pause longer within a picture.
    package var quietTime = Duration.milliseconds(5)
    /// Whether no marker ends the first picture of H.264 and H.265: a sender may put one on each slice. The first
    /// picture is then complete with the next one, or after 100 ms. The default is true.
    package var doubtsFirstMarker = true
    /// Parameter sets of the session description: NAL units of H.264 and H.265, or the configuration of MPEG-4. Those
    /// in the stream replace them.
    package var parameterSets: [[UInt8]] = []
    /// The size of JPEG pictures, for senders whose payloads cannot state it: 0 in both fields, or sides beyond 2040.
    package var jpegSize: ImageSize?

    package init() {}
}
