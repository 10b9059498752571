package import InletCore

/// A coded picture, as a decoder takes it.
package struct AccessUnit: Sendable {
    /// The bytes: Annex B with start codes of four bytes for H.264 and H.265, a whole JPEG file, a temporal unit of
    /// AV1 with temporal delimiter and sizes, a frame of VP8, VP9 or MPEG-4.
    package var data: PacketData
    /// The RTP timestamp; of a transport stream, the lower 32 bits of the presentation time, whose clock has the same
    /// rate.
    package var timestamp: UInt32
    /// The time at which the first packet arrived.
    package var firstArrival: MonotonicTime
    /// The time at which the last packet arrived.
    package var lastArrival: MonotonicTime
    /// Whether decoding can start here, without any unit before it.
    package var isKey = false
    /// The number of frames after which pictures are right if decoding starts here, as a recovery-point message states;
    /// nil without one.
    package var recoveryFrames: Int?
    /// Whether all slices are intra-coded; nil if unknown.
    package var isIntra: Bool?
    /// Whether other pictures may refer to this one; nil if unknown.
    package var isReference: Bool?
    /// Whether a part is missing. Only with ``DepacketizerSettings/DamagePolicy/pass``.
    package var isDamaged = false
    /// Whether a picture before this one, to which later ones may refer, is missing in whole or in part. Set on the
    /// first unit after the loss only.
    package var isAfterLoss = false
    /// Whether the sender states that its clock is another one from here on: timestamps before and after are unrelated.
    package var startsTimeline = false
    /// Whether the parameter sets differ from those of the units before.
    package var hasNewParameterSets = false

    /// Whether a recovery-point message marks that decoding may start here.
    package var isRecoveryPoint: Bool { recoveryFrames != nil }
}
