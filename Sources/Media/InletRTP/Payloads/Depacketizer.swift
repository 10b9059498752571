package import InletCore

/// Joins the RTP packets of one video stream to access units, each as soon as it is known to be complete.
///
/// Packets come in the order of their sequence numbers and without duplicates. After each call the finished units are
/// taken with ``takeUnit()``; at most 64 wait, and one more is dropped. Every bound of ``DepacketizerSettings`` holds
/// whatever the packets contain. Not safe from several threads at once; the units may go to any thread.
package final class Depacketizer {
    /// The layout of the payloads.
    package let format: RTPPayloadFormat
    private var builder: AccessUnitBuilder
    private var nal: NALDepacketizer?
    private var jpeg: JPEGDepacketizer?
    private var frames: FrameDepacketizer?
    private var transport: TransportStreamDepacketizer?

    /// Makes a depacketizer for one stream.
    package init(_ format: RTPPayloadFormat, settings: DepacketizerSettings = DepacketizerSettings()) {
        self.format = format
        builder = AccessUnitBuilder(settings: settings)
        switch format {
        case .h264: nal = NALDepacketizer(isHEVC: false, usesDONL: false, settings: settings)
        case .h265(let usesDONL): nal = NALDepacketizer(isHEVC: true, usesDONL: usesDONL, settings: settings)
        case .jpeg: jpeg = JPEGDepacketizer(size: settings.jpegSize)
        case .av1: frames = FrameDepacketizer(.av1, settings: settings)
        case .vp8: frames = FrameDepacketizer(.vp8, settings: settings)
        case .vp9: frames = FrameDepacketizer(.vp9, settings: settings)
        case .mpeg4Visual: frames = FrameDepacketizer(.mpeg4, settings: settings)
        case .transportStream: transport = TransportStreamDepacketizer(settings: settings)
        }
        for set in settings.parameterSets { nal?.addDescribed(set, &builder) }
    }

    /// Reads a packet.
    ///
    /// - Parameters:
    ///   - header: the packet's header.
    ///   - packet: the whole packet, to which the header's ranges refer. A range beyond it counts as malformed.
    ///   - lostBefore: how many packets are missing directly before this one.
    ///   - time: when the packet arrived.
    ///   - hasMore: whether more bytes of the connection are buffered already. A unit that its marker ends is then kept
    ///     until the next packet, or the next ``tick(at:)``, shows that the marker is right.
    package func add(
        _ header: RTPHeader, _ packet: RawSpan, lostBefore: Int, at time: MonotonicTime, hasMore: Bool
    ) {
        let range = header.payload
        guard range.lowerBound >= 0, range.upperBound <= packet.byteCount else {
            builder.statistics.malformed &+= 1
            return
        }
        let payload = packet.extracting(range)
        nal?.add(header, payload, lostBefore: lostBefore, at: time, hasMore: hasMore, to: &builder)
        jpeg?.add(header, packet, lostBefore: lostBefore, at: time, to: &builder)
        frames?.add(header, payload, lostBefore: lostBefore, at: time, to: &builder)
        transport?.add(payload, lostBefore: lostBefore, at: time, hasMore: hasMore, to: &builder)
    }

    /// Returns the oldest finished unit; nil if no unit is finished.
    package func takeUnit() -> AccessUnit? { builder.take() }

    /// The time at which ``tick(at:)`` is to be called if no packet arrives; nil if time finishes nothing. It may have
    /// passed already: then the call is due as soon as no more bytes are buffered.
    package var quietDeadline: MonotonicTime? { nal?.quietDeadline ?? transport?.quietDeadline }

    /// Finishes a unit whose ``quietDeadline`` has passed. Earlier calls do nothing.
    package func tick(at time: MonotonicTime) {
        nal?.tick(at: time, &builder)
        transport?.tick(at: time, &builder)
    }

    /// Finishes the last unit, after the last packet of the stream.
    package func end() {
        nal?.end(&builder)
        jpeg?.end(&builder)
        frames?.end(&builder)
        transport?.end(&builder)
    }

    /// Discards incomplete units, as after a restart of the sender. The next unit counts as one after a loss. Parameter
    /// sets are kept.
    package func restart() {
        nal?.restart(&builder)
        jpeg?.restart(&builder)
        frames?.restart(&builder)
        transport?.restart(&builder)
    }

    /// The latest parameter sets of H.264 and H.265 in Annex B, for a decoder that needs them beforehand. Empty if none
    /// has been received.
    package var parameterSets: [UInt8] { nal?.sets.annexB ?? transport?.nal?.sets.annexB ?? [] }

    /// The state of the search for video in a transport stream; nil for other formats.
    package var transportStream: TransportStreamState? { transport?.state(builder.statistics) }

    /// The figures so far.
    package var statistics: DepacketizerStatistics { builder.statistics }

    /// Blocks of memory allocated so far; constant in the steady state.
    package var allocations: Int { builder.pool.allocations }

    /// The bytes of memory that the units hold, and those kept for the next ones.
    package var memory: Int { builder.pool.bytes }
}
