import InletCore
import InletDecode
import InletFFmpeg
import InletRTP
import InletRTSP

/// Reads the packets of a network camera by RTSP. Decoding is done elsewhere.
///
/// A packet is a whole access unit, and is returned as soon as its last RTP packet has arrived.
final class RTSPSource: FrameSource {
    private let configuration: RTSPConfiguration
    private let replay: CaptureReplay?
    private var client: RTSPClient?
    private var parameters: CodecParameters
    private var points = StartingPoints()
    private var demandsPackets = false
    private var demandVersion = -1
    private var hasRead = false
    private let inspected: FFmpegPacket?

    /// - Parameter replay: a capture to play instead of a server. The default, nil, is none.
    init(_ configuration: RTSPConfiguration, replay: CaptureReplay? = nil) {
        self.configuration = configuration
        self.replay = replay
        parameters = CodecParameters(codec: .h264, size: ImageSize(width: 0, height: 0), timeBase: Rational(1, 90_000))
        inspected = try? FFmpegPacket()
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        let client = try RTSPClient(
            configuration, keepAlive: configuration.memory?.keepAlive ?? KeepAliveMemory(), replay: replay, context)
        self.client = client
        try client.open()
        guard let video = client.established?.video, let codec = video.codec else {
            throw InletError(.internal, "The stream went away.")
        }
        parameters.codec = codec
        parameters.timeBase = Rational(1, video.clockRate)
        parameters.extraData = client.stream?.parameterSets ?? []
        var format = SourceFormat(
            size: ImageSize(width: 0, height: 0), pixelFormat: .yuv420p, timeBase: parameters.timeBase, pacing: .live,
            codec: codec.rawValue, container: "rtsp", isBroadcast: !client.isRecording)
        format.packetStream = PacketStream(parameters)
        return format
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        guard let client else { return nil }
        while true {
            if let unit = client.stream?.takeUnit() {
                hasRead = true
                return .packet(try packet(unit, client, context))
            }
            if client.isAtEnd { return nil }
            let limit = hasRead ? configuration.readTimeout : configuration.firstTimeout
            // Packets that make no picture are no stream yet.
            let arrival = hasRead ? client.stream?.lastArrival : nil
            let since = max(arrival ?? client.waitingSince, client.waitingSince)
            do throws(InletError) {
                try client.advance(until: since + limit)
            } catch {
                // A recording has an end.
                if error.code == .streamEnded, client.isRecording { return nil }
                throw error
            }
            guard client.now < since + limit || client.stream?.hasUnit == true else {
                throw silence(limit, client)
            }
        }
    }

    private func silence(_ limit: Duration, _ client: RTSPClient) -> InletError {
        if client.stream?.lastArrival != nil, !hasRead {
            return InletError(
                .timedOut,
                "Packets came, but no whole picture within \(limit.optionText). first-timeout sets how long to wait.")
        }
        return InletError(
            .timedOut,
            hasRead
                ? "Nothing came for \(limit.optionText). The server or what lies between has stopped. read-timeout sets how long to wait."
                : "The server promised a stream, but nothing came within \(limit.optionText). first-timeout sets how long to wait."
        )
    }

    private func packet(
        _ item: MediaStream.Unit, _ client: RTSPClient, _ context: SourceContext
    ) throws(InletError) -> SourcePacket {
        let unit = item.unit
        if unit.hasNewParameterSets, let sets = client.stream?.parameterSets, !sets.isEmpty {
            parameters.extraData = sets
            // They may state another size.
            parameters.size = ImageSize(width: 0, height: 0)
        }
        let isStart = points.isStart(unit)
        if isStart, !unit.isDamaged { try followSize(of: unit, context) }
        var flags: PacketFlags = isStart ? .key : []
        if item.isDiscontinuity { flags.insert(.discontinuity) }
        if unit.isDamaged || unit.isAfterLoss && !beginsAnew(unit) { flags.insert(.loss) }
        var packet = SourcePacket(
            parameters: parameters, data: unit.data, pts: MediaTime(ticks: item.ticks, timeBase: parameters.timeBase),
            dts: nil, flags: flags)
        packet.receiveTime = unit.lastArrival
        packet.wallClock = item.wallClock
        return packet
    }

    /// Whether nothing from the unit on refers to what is before it, so that a loss there does not matter. Pictures
    /// that are decoded behind a key frame of HEVC and shown before it may do so.
    private func beginsAnew(_ unit: AccessUnit) -> Bool { unit.isKey && parameters.codec != .hevc }

    /// Follows the size, for sinks that take packets: key frames tell it.
    ///
    /// - Throws: ``InletError/Code/unsupported`` if the pictures are larger than permitted.
    private func followSize(of unit: AccessUnit, _ context: SourceContext) throws(InletError) {
        let version = context.demandVersion
        if version != demandVersion {
            demandVersion = version
            demandsPackets = context.demand.packets
        }
        guard demandsPackets, !parameters.size.isValid || unit.hasNewParameterSets || !hasParameterSets,
            let inspected
        else { return }
        try inspected.fill(sharing: unit.data)
        defer { inspected.unref() }
        let limits = configuration.decoding.limits
        let found = PacketInspection.updated(parameters, by: inspected, maximumPixels: limits.size.decodedPixelCount)
        if found.size != parameters.size, !found.size.fits(in: limits.size) {
            throw limits.refusal("A picture of \(found.size) has")
        }
        parameters = found
    }

    /// Whether a change of size shows in the stream's parameter sets.
    private var hasParameterSets: Bool { [.h264, .hevc].contains(parameters.codec) }

    func pause(_ context: SourceContext) throws -> Bool { try client?.pause() ?? false }

    func resume(_ context: SourceContext) throws { try client?.resume() }

    func close() {
        if let client { configuration.memory?.keepAlive = client.keepAlive }
        client?.close()
        client = nil
    }
}
