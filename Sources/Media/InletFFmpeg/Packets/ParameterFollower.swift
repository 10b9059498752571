package import InletCore

/// Follows the parameters of packets for sinks that take them as they are: a source need not report that its key frames
/// bring other parameter sets or another size.
///
/// Confined to one thread.
package struct ParameterFollower {
    private var parameters: CodecParameters
    private let inspected: FFmpegPacket?
    /// The size by the previous key frames. The stated size is not reliable: containers round and crop.
    private var size: ImageSize?
    /// The parameter sets from the next key frame on, unless it brings others; nil if they have not changed.
    private var nextSets: [UInt8]?

    /// - Parameter parameters: the parameters that the source states.
    package init(_ parameters: CodecParameters) {
        self.parameters = parameters
        inspected = try? FFmpegPacket()
    }

    /// Records the parameter sets of a packet that is no key frame. The next key frame may rely on them without
    /// repeating them.
    package mutating func note(_ packet: PacketData) {
        var latest = parameters
        if let nextSets { latest.extraData = nextSets }
        guard let sets = ParameterSets(latest)?.extended(by: packet) else { return }
        nextSets = sets.byteStream
    }

    /// Returns the parameters from a key frame on; nil if it changes none.
    package mutating func follow(_ keyFrame: PacketData) -> CodecParameters? {
        guard let inspected, (try? inspected.fill(sharing: keyFrame)) != nil else { return nil }
        defer { inspected.unref() }
        var changed = parameters
        if let nextSets { changed.extraData = nextSets }
        let sets = PacketInspection.changedSets(in: inspected, changed) ?? nextSets
        nextSets = nil
        if let sets { changed.extraData = sets }
        // The size of H.264 and HEVC is part of the parameter sets.
        if size == nil || sets != nil || ![.h264, .hevc].contains(parameters.codec) {
            let found = PacketInspection.statedSize(in: inspected, changed)
            if let found, size.map({ $0 != found }) ?? (sets != nil) { changed.size = found }
            size = found ?? size
        }
        guard changed != parameters else { return nil }
        parameters = changed
        return changed
    }
}
