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
    private var received = ReceptionLog()
    private var droppedUnits: Int?
    private var demandsPackets = false
    private var demandVersion = -1
    private var hasRead = false
    /// The number of the client's stream that ``parameters`` are of.
    private var streamNumber = 0
    /// The time and the arrival of the last unit; nil before the first.
    private var last: (ticks: Int64, arrival: MonotonicTime)?
    /// What is added to the times of the current stream's units, so that they continue those of the previous stream.
    private var offset: Int64 = 0
    /// Whether the next unit is the first of another stream.
    private var beginsStream = false
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
            configuration, configuration.memory, replay: replay, context)
        self.client = client
        try client.open()
        parameters.codec = try client.codec()
        guard let video = client.established?.video else { throw InletError(.internal, "The stream went away.") }
        parameters.timeBase = Rational(1, video.clockRate)
        parameters.extraData = client.stream?.parameterSets ?? []
        streamNumber = client.streamNumber
        var format = SourceFormat(
            size: ImageSize(width: 0, height: 0), pixelFormat: .yuv420p, timeBase: parameters.timeBase, pacing: .live,
            codec: parameters.codec.rawValue, container: "rtsp", isBroadcast: !client.isRecording)
        format.packetStream = PacketStream(parameters)
        return format
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        guard let client else { return nil }
        let start = client.now
        defer { received.report(client.stream, to: context) }
        while true {
            if client.streamNumber != streamNumber { try followStream(of: client) }
            if let unit = client.stream?.takeUnit() {
                hasRead = true
                return .packet(try packet(unit, client, context))
            }
            if client.isAtEnd { return nil }
            try client.checkTransportStream()
            let limit = hasRead ? configuration.readTimeout : configuration.firstTimeout
            // Packets that make no picture are no stream yet.
            let arrival = hasRead ? client.stream?.lastArrival : nil
            let since = max(arrival ?? client.waitingSince, client.waitingSince)
            do throws(InletError) {
                try client.advance(until: since + limit)
                if client.stream?.payloads.droppedUnits != droppedUnits { noteDrops(client, context) }
            } catch {
                // A recording has an end.
                if error.code == .streamEnded, client.isRecording { return nil }
                if error.code != .cancelled { client.noteLoss() }
                throw error
            }
            let now = client.now
            guard now >= since + limit, client.stream?.hasUnit != true else { continue }
            // Whoever was held up for longer than the limit reads what has arrived meanwhile, first.
            // A capture tells by its end whether the session was quiet.
            if client.isQuiet || replay == nil && now >= start + limit {
                client.noteLoss()
                throw silence(limit, client)
            }
        }
    }

    /// Continues with another stream: after a redirect, with another transport, or in another session.
    ///
    /// - Throws: ``InletError/Code/formatChanged`` if the codec or the time base has changed.
    private func followStream(of client: RTSPClient) throws(InletError) {
        guard let video = client.established?.video else { return }
        guard try client.codec() == parameters.codec, Rational(1, video.clockRate) == parameters.timeBase else {
            throw InletError(
                .formatChanged, "The server now sends another codec or time base. The source has to be opened anew.")
        }
        streamNumber = client.streamNumber
        parameters.extraData = client.stream?.parameterSets ?? []
        parameters.size = ImageSize(width: 0, height: 0)
        points = StartingPoints()
        beginsStream = hasRead
    }

    /// Returns the time of a unit on the timeline of all streams.
    private func place(_ item: MediaStream.Unit) -> Int64 {
        if beginsStream, let last {
            let passed = MediaTime(
                ticks: max(0, (item.unit.lastArrival - last.arrival).wholeNanoseconds),
                timeBase: Rational(1, 1_000_000_000)
            ).rescaled(to: parameters.timeBase).ticks
            offset = last.ticks &+ max(1, passed) &- item.ticks
        }
        let ticks = item.ticks &+ offset
        last = (max(ticks, last?.ticks ?? ticks), item.unit.lastArrival)
        return ticks
    }

    /// Counts drops while no unit is complete, so that a time-out can tell the reason.
    private func noteDrops(_ client: RTSPClient, _ context: SourceContext) {
        droppedUnits = client.stream?.payloads.droppedUnits
        received.report(client.stream, to: context)
    }

    private func silence(_ limit: Duration, _ client: RTSPClient) -> InletError {
        if client.stream?.lastArrival != nil, !hasRead {
            return InletError(
                .timedOut,
                "Packets came, but no whole picture within \(limit.optionText). "
                    + "first-timeout sets how long to wait.")
        }
        return InletError(
            .timedOut,
            hasRead
                ? "Nothing came for \(limit.optionText). The server has stopped, or the network is interrupted. "
                    + "read-timeout sets how long to wait."
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
        var item = item
        item.ticks = place(item)
        if beginsStream {
            item.isDiscontinuity = true
            item.unit.isAfterLoss = true
            beginsStream = false
        }
        return SourcePacket(item, parameters, isStart: isStart)
    }

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
        client?.close()
        client = nil
    }
}
