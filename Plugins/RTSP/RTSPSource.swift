import InletCore
import InletDecode
import InletFFmpeg
import InletRTP
import InletRTSP

/// Reads the packets of a network camera over RTSP. Decoding is done elsewhere.
///
/// A packet is a complete access unit, and is returned as soon as its last RTP packet has arrived.
final class RTSPSource: FrameSource {
    private let configuration: RTSPConfiguration
    private let replay: CaptureReplay?
    private var client: RTSPClient?
    private var events: ONVIFEventListener?
    private var parameters: CodecParameters
    private var points = StartingPoints()
    private var received = ReceptionLog()
    private var droppedUnits: Int?
    private var hasRead = false
    /// The number of the client's stream to which ``parameters`` belong.
    private var streamNumber = 0
    private var timeline = JoinedTimeline(timeBase: Rational(1, 90_000))
    private let size: StreamSizeFollower
    /// Watches a stream over UDP until too much is lost; nil after that, and for other transports.
    private var losses: LossWatch?
    /// The counts of dropped pictures that ``losses`` has already seen.
    private var watched = DepacketizerStatistics()
    /// Whether the session must continue over TCP once all complete pictures are taken.
    private var isLeaving = false

    /// - Parameter replay: a capture to play instead of a server. The default, nil, plays a server.
    init(_ configuration: RTSPConfiguration, replay: CaptureReplay? = nil) {
        self.configuration = configuration
        self.replay = replay
        parameters = CodecParameters(codec: .h264, size: ImageSize(width: 0, height: 0), timeBase: Rational(1, 90_000))
        let limits = configuration.decoding.limits
        size = StreamSizeFollower(largest: limits.size) { limits.refusal($0) }
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        let client = try RTSPClient(
            configuration, configuration.memory, replay: replay, context)
        self.client = client
        try client.open()
        if replay == nil {
            events = try ONVIFEventListener(configuration, context)
            try events?.start()
        }
        parameters.codec = try client.codec()
        guard let video = client.established?.video else { throw InletError(.internal, "The stream is gone.") }
        parameters.timeBase = Rational(1, video.clockRate)
        timeline = JoinedTimeline(timeBase: parameters.timeBase)
        parameters.extraData = client.stream?.parameterSets ?? []
        streamNumber = client.streamNumber
        watchLosses(of: client)
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
                let packet = try packet(unit, client, context)
                watch(unit.unit, isStart: packet.isKey, client)
                return .packet(packet)
            }
            if client.isAtEnd { return nil }
            if isLeaving {
                isLeaving = false
                // If the transport stays, the watch continues, and detects when the losses end.
                if try !client.leaveUDP(until: client.now + configuration.connectTimeout) { losses = LossWatch() }
                continue
            }
            try client.checkTransportStream()
            let limit = hasRead ? configuration.readTimeout : configuration.firstTimeout
            // Packets that do not form a picture are not a stream yet.
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
            // A source that was delayed for longer than the limit first reads the data that has arrived meanwhile. A
            // capture shows by its end whether the session was quiet.
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
                .formatChanged, "The server now sends another codec or time base. The source must be opened again.")
        }
        streamNumber = client.streamNumber
        parameters.extraData = client.stream?.parameterSets ?? []
        parameters.size = ImageSize(width: 0, height: 0)
        points = StartingPoints()
        timeline.beginStream()
        watchLosses(of: client)
    }

    /// Watches the losses of a stream over UDP if they cost pictures. A capture itself states when its session left
    /// UDP.
    private func watchLosses(of client: RTSPClient) {
        let isWatched =
            replay == nil && client.sockets != nil && [.drop, .automatic].contains(configuration.damage)
        losses = isWatched ? LossWatch() : nil
        watched = client.stream?.payloads ?? DepacketizerStatistics()
    }

    /// Records a complete picture.
    private func watch(_ unit: AccessUnit, isStart: Bool, _ client: RTSPClient) {
        watchDrops(of: client)
        // A loss before a picture that refers to no other was recorded when the pictures in between were dropped.
        let isLossy = unit.isDamaged || unit.isAfterLoss && !isStart
        // With H.265, only pictures that refer to no lost picture are passed on.
        let isWhole = isStart || parameters.codec == .hevc && configuration.damage == .drop
        watch(isLossy ? .lossy : isWhole ? .whole : .dependent, at: unit.lastArrival)
    }

    /// Records pictures that were dropped as damaged, or because they refer to damaged pictures.
    private func watchDrops(of client: RTSPClient) {
        guard losses != nil, let counts = client.stream?.payloads else { return }
        if counts.droppedUnits != watched.droppedUnits {
            watch(.lossy, at: client.now)
        } else if counts.withoutReferences != watched.withoutReferences {
            watch(.dependent, at: client.now)
        }
        watched = counts
    }

    private func watch(_ picture: LossWatch.Picture, at time: MonotonicTime) {
        let isTooMuch = losses?.note(picture, at: time) == true
        if losses?.isCalm == true { client?.stream?.lossRemedy = nil }
        if isTooMuch { (losses, isLeaving) = (nil, true) }
    }

    /// Counts drops while no unit is complete, so that a time-out can state the reason.
    private func noteDrops(_ client: RTSPClient, _ context: SourceContext) {
        droppedUnits = client.stream?.payloads.droppedUnits
        watchDrops(of: client)
        received.report(client.stream, to: context)
    }

    private func silence(_ limit: Duration, _ client: RTSPClient) -> InletError {
        if client.stream?.lastArrival != nil, !hasRead {
            return InletError(
                .timedOut,
                "Packets arrived, but no complete picture within \(limit.optionText). "
                    + "first-timeout sets how long to wait.")
        }
        return InletError(
            .timedOut,
            hasRead
                ? "No data arrived for \(limit.optionText). The server has stopped, or the network is interrupted. "
                    + "read-timeout sets how long to wait."
                : "The server promised a stream, but no data arrived within \(limit.optionText). first-timeout sets how long to wait."
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
        if isStart, !unit.isDamaged {
            try size.follow(&parameters, unit.data, hasNewParameterSets: unit.hasNewParameterSets, context)
        }
        var item = item
        let place = timeline.place(item.ticks, arrival: unit.lastArrival)
        item.ticks = place.ticks
        if place.isFirst {
            item.isDiscontinuity = true
            item.unit.isAfterLoss = true
        }
        return SourcePacket(item, parameters, isStart: isStart)
    }

    func pause(_ context: SourceContext) throws -> Bool { try client?.pause() ?? false }

    func resume(_ context: SourceContext) throws {
        guard let client else { return }
        try client.resume()
        // Packets that were sent during the pause do not count as lost.
        if losses != nil { watchLosses(of: client) }
    }

    func close() {
        events?.close()
        events = nil
        client?.close()
        client = nil
    }
}
