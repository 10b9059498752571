import InletCore
import InletDecode
import InletFFmpeg

/// The parameters of the packets of a plug-in, completed with the parts that the plug-in does not state: sinks that
/// take unchanged packets need the size of the pictures, which key frames contain.
struct PacketParameters {
    /// The newest known parameters.
    private(set) var known: CodecParameters
    private let limits: PictureLimits
    /// Whether the plug-in states when parameter sets change. Otherwise each key frame may bring others.
    private var statesSets: Bool
    /// Whether key frames must be inspected.
    private var isIncomplete: Bool

    init(_ stated: CodecParameters, _ limits: PictureLimits) {
        known = stated
        self.limits = limits
        statesSets = !stated.extraData.isEmpty
        isIncomplete = !stated.size.isValid
    }

    /// Follows the parameter sets that are valid from the next packet on.
    mutating func follow(_ sets: [UInt8]) {
        known.extraData = sets
        // They may be of another size.
        (statesSets, isIncomplete) = (true, true)
    }

    /// Whether a key frame may contain a missing value.
    var needsKeyFrame: Bool { isIncomplete || !statesSets }

    /// Follows a key frame, if ``needsKeyFrame`` is true.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if its pictures are larger than permitted.
    mutating func follow(_ keyFrame: PacketData) throws(InletError) {
        let packet = try FFmpegPacket()
        try packet.fill(sharing: keyFrame)
        let found = PacketInspection.updated(known, by: packet, maximumPixels: limits.size.decodedPixelCount)
        guard found.size == known.size || found.size.fits(in: limits.size) else {
            throw limits.refusal("A picture of \(found.size) has")
        }
        known = found
        isIncomplete = !found.size.isValid
    }
}
