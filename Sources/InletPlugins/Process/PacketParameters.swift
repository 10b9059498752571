import InletCore
import InletDecode
import InletFFmpeg

/// The parameters of the packets of a plug-in, with what it does not state of them: sinks that take packets as they are
/// need the size of the pictures, which key frames tell.
struct PacketParameters {
    /// The newest known ones.
    private(set) var known: CodecParameters
    private let limits: PictureLimits
    /// Whether the plug-in says when parameter sets change. Otherwise each key frame may bring others.
    private var statesSets: Bool
    /// Whether key frames have to be looked into.
    private var isIncomplete: Bool

    init(_ stated: CodecParameters, _ limits: PictureLimits) {
        known = stated
        self.limits = limits
        statesSets = !stated.extraData.isEmpty
        isIncomplete = !stated.size.isValid
    }

    /// Takes the parameter sets that hold from the next packet on.
    mutating func follow(_ sets: [UInt8]) {
        known.extraData = sets
        // They may be of another size.
        (statesSets, isIncomplete) = (true, true)
    }

    /// Whether a key frame may tell what is not known.
    var needsKeyFrame: Bool { isIncomplete || !statesSets }

    /// Takes a key frame, where ``needsKeyFrame`` is true.
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
