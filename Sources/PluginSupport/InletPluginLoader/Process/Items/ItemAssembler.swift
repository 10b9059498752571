import InletCore
import InletDecode

/// Makes frames and packets from a plug-in's statements, and keeps the state between them.
struct ItemAssembler {
    private let format: SourceFormat
    /// The parameters of packets; nil for a source of pictures.
    private var parameters: PacketParameters?
    /// Why the last packet cannot be recorded; nil if it can, and for pictures.
    private(set) var refusal: InletError?
    /// The sequence number of the last item; nil before the first.
    private(set) var sequence: UInt64?

    /// - Parameter limits: the largest pictures that may be recorded without decoding.
    init(_ stream: CheckedStream, _ limits: PictureLimits) {
        format = stream.format
        parameters = (stream.format.packetStream?.parameters).map { PacketParameters($0, limits) }
    }

    /// Whether the source yields packets instead of pictures.
    var yieldsPackets: Bool { parameters != nil }

    /// Makes a frame.
    mutating func frame(
        _ item: CheckedItem, _ picture: CheckedItem.Picture, _ planes: SourcePlanes, owner: any AnyObject & Sendable
    ) -> SourceItem {
        sequence = item.sequence
        var flags: FrameFlags = []
        if item.isKey { flags.insert(.key) }
        if item.isCorrupt { flags.insert(.corrupt) }
        if item.isDiscontinuity { flags.insert(.discontinuity) }
        var frame = SourceFrame(
            pixelFormat: picture.format, size: picture.size, planes: planes, owner: owner, pts: time(item.pts),
            duration: time(item.duration), sequence: item.sequence, colorSpace: picture.color ?? format.colorSpace,
            rotation: picture.rotation, flags: flags,
            sampleAspectRatio: picture.aspectRatio ?? format.sampleAspectRatio)
        frame.captureTime = item.captureTime
        frame.wallClock = item.wallClock
        return .frame(frame)
    }

    /// Makes a packet, and sets ``refusal``. Packets are not numbered: gaps are counted here.
    ///
    /// - Parameter parameterSets: the sets from this packet on; nil if they have not changed.
    mutating func packet(
        _ item: CheckedItem, _ data: PacketData, parameterSets: [UInt8]?, _ context: SourceContext
    ) -> SourceItem? {
        guard var parameters else { return nil }
        if let parameterSets { parameters.follow(parameterSets) }
        if item.isKey, parameters.needsKeyFrame, context.demand.packets {
            do throws(InletError) { try parameters.follow(data) } catch { refusal = error }
        }
        self.parameters = parameters
        // Sequence numbers grow; this was checked.
        let gap = item.sequence &- (sequence.map { $0 &+ 1 } ?? 0)
        sequence = item.sequence
        context.countDrop(.lostBySource, gap)
        let pts = time(item.pts)
        var packet = SourcePacket(
            parameters: parameters.known, data: data, pts: pts, dts: pts == nil ? nil : time(item.dts) ?? pts,
            duration: time(item.duration))
        if item.isKey { packet.flags.insert(.key) }
        if item.isDiscontinuity { packet.flags.insert(.discontinuity) }
        if item.isLoss || item.isCorrupt || gap > 0 { packet.flags.insert(.loss) }
        packet.captureTime = item.captureTime
        packet.wallClock = item.wallClock
        return .packet(packet)
    }

    private func time(_ ticks: Int64?) -> MediaTime? {
        ticks.map { MediaTime(ticks: $0, timeBase: format.timeBase) }
    }
}
