import InletCore
import InletDecode
import InletFFmpeg

/// Reads the packets of a file or a network stream with libavformat. Decoding is done elsewhere.
final class FFmpegSource: FrameSource {
    private let input: FFmpegInput
    private var demuxer: Demuxer?
    /// The parameters of the packets. Key frames of a live stream may change them.
    private var parameters: CodecParameters?
    private var isLive = false
    /// Derives decoding times for containers that have none; nil for a live stream, whose times are the sender's or
    /// absent.
    private var timestamps: TimestampGuess?
    private var passes: FilePasses
    private var isRestarting = false
    private var demandsPackets = false
    private var demandVersion = -1

    init(_ input: FFmpegInput) {
        self.input = input
        passes = FilePasses(repetitions: input.loop)
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        let demuxer = try Demuxer(input, context: context)
        self.demuxer = demuxer
        var format = demuxer.format
        guard let parameters = demuxer.codecParameters else { throw InletError(.internal, "The stream is gone.") }
        self.parameters = parameters
        isLive = format.pacing == .live
        if !isLive {
            timestamps = TimestampGuess(
                timeBase: parameters.timeBase, frameRate: format.frameRate, reorderDepth: parameters.reorderDepth)
        }
        var stream = PacketStream(parameters)
        stream.keyFrameInterval = demuxer.keyFrameDistances.max().flatMap {
            $0 > 0 ? MediaTime(ticks: $0, timeBase: parameters.timeBase) : nil
        }
        if input.start > .zero {
            let (start, origin, place) = try demuxer.seek(to: input.start, context)
            if place == .unknown { self.demuxer = try reopened(demuxer, context) }
            stream.start = MediaTime(ticks: start, timeBase: parameters.timeBase)
            passes.begin(at: start, origin: origin)
        }
        format.packetStream = stream
        return format
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        while let demuxer {
            guard let packet = try demuxer.nextPacket(context) else {
                guard passes.beginNext() else { return nil }
                if try !demuxer.rewind(context) { self.demuxer = try reopened(demuxer, context) }
                timestamps?.reset()
                isRestarting = true
                continue
            }
            return .packet(try sourcePacket(packet, demuxer, context))
        }
        return nil
    }

    /// Reopens a file whose beginning cannot be found by seeking.
    ///
    /// - Throws: ``InletError/Code/malformedData`` if the file has been replaced.
    private func reopened(_ old: Demuxer, _ context: SourceContext) throws(InletError) -> Demuxer {
        let new = try Demuxer(input, context: context)
        guard new.stream.timeBase == old.stream.timeBase, new.stream.index == old.stream.index else {
            throw InletError(
                .malformedData, "The file was replaced while it was being read. Open the new one.")
        }
        return new
    }

    private func sourcePacket(
        _ packet: FFmpegPacket, _ demuxer: Demuxer, _ context: SourceContext
    ) throws(InletError) -> SourcePacket {
        let lacksSomething = isLive && (demuxer.takeLosses() > 0 || packet.isCorrupt)
        if !lacksSomething { try followSize(of: packet, context) }
        guard let parameters else { throw InletError(.internal, "The stream is gone.") }
        let timeBase = parameters.timeBase
        func time(_ ticks: Int64) -> MediaTime { MediaTime(ticks: ticks &+ passes.offset, timeBase: timeBase) }
        let dts = timestamps?.complete(dts: packet.dts, duration: packet.duration) ?? packet.dts
        if !isLive, !packet.isDiscarded, let shown = packet.pts ?? dts {
            passes.note(shown, length: packet.duration > 0 ? packet.duration : demuxer.stream.frameTicks)
        }
        var flags: PacketFlags = packet.isKey ? .key : []
        if isRestarting { flags.insert(.restart) }
        if packet.isDiscarded { flags.insert(.hidden) }
        isRestarting = false
        if lacksSomething { flags.insert(.loss) }
        var result = SourcePacket(
            parameters: parameters, data: try EncodedPacketStorage(sharing: packet).data, pts: packet.pts.map(time),
            dts: dts.map(time),
            duration: packet.duration > 0 ? MediaTime(ticks: packet.duration, timeBase: timeBase) : nil,
            flags: flags)
        if isLive { result.receiveTime = context.clock.now }
        result.wallClock = packet.wallClock
        return result
    }

    /// Updates the size of a network stream, which is not analysed in advance and may change: key frames state the
    /// size when packets are forwarded without decoding. Parameter sets that the container states separately, as FLV
    /// does, apply to all later packets, even for sinks that only take packets later.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if the pictures are larger than permitted.
    private func followSize(of packet: FFmpegPacket, _ context: SourceContext) throws(InletError) {
        let version = context.demandVersion
        if version != demandVersion {
            demandVersion = version
            demandsPackets = context.demand.packets
        }
        guard let parameters else { return }
        let tellsSize = packet.isKey && demandsPackets && (isLive || !parameters.size.isValid)
        guard tellsSize || packet.hasNewExtraData else { return }
        let limits = input.decoding.limits
        let found = PacketInspection.updated(parameters, by: packet, maximumPixels: limits.size.decodedPixelCount)
        if found.size != parameters.size, !found.size.fits(in: limits.size) {
            throw limits.refusal("A picture of \(found.size) has")
        }
        self.parameters = found
    }

    /// Pauses a file by not reading it; asks a server to pause. If the server cannot, the stream is closed.
    func pause(_ context: SourceContext) throws -> Bool { demuxer?.pause() ?? false }

    func resume(_ context: SourceContext) throws { try demuxer?.play() }

    func close() { demuxer = nil }
}
