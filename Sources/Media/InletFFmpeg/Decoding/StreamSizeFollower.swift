package import InletCore

/// Follows the size of a stream's pictures for sinks that take packets: key frames state it.
///
/// Confined to one thread.
package final class StreamSizeFollower {
    private let largest: ImageSize
    private let refusal: (String) -> InletError
    private let inspected: FFmpegPacket?
    private var demandsPackets = false
    private var demandVersion = -1

    /// - Parameters:
    ///   - largest: the largest pictures that are accepted.
    ///   - refusal: returns the error for larger ones, from the beginning of its sentence.
    package init(largest: ImageSize, refusal: @escaping (String) -> InletError) {
        self.largest = largest
        self.refusal = refusal
        inspected = try? FFmpegPacket()
    }

    /// Updates the parameters from a key frame, if a sink takes packets and the size may have changed.
    ///
    /// - Parameters:
    ///   - parameters: the parameters of the stream.
    ///   - data: the key frame.
    ///   - hasNewParameterSets: whether its parameter sets differ from those before.
    ///   - context: the source's context.
    /// - Throws: ``InletError/Code/unsupported`` if the pictures are larger than permitted.
    package func follow(
        _ parameters: inout CodecParameters, _ data: PacketData, hasNewParameterSets: Bool, _ context: SourceContext
    ) throws(InletError) {
        let version = context.demandVersion
        if version != demandVersion {
            demandVersion = version
            demandsPackets = context.demand.packets
        }
        // For other codecs, each key frame is inspected: no parameter set shows a change of size.
        let hasParameterSets = [.h264, .hevc].contains(parameters.codec)
        guard demandsPackets, !parameters.size.isValid || hasNewParameterSets || !hasParameterSets, let inspected
        else { return }
        try inspected.fill(sharing: data)
        defer { inspected.unref() }
        let found = PacketInspection.updated(parameters, by: inspected, maximumPixels: largest.decodedPixelCount)
        if found.size != parameters.size, !found.size.fits(in: largest) {
            throw refusal("A picture of \(found.size) has")
        }
        parameters = found
    }
}
