import InletCore
import InletDecode
import InletFFmpeg
import InletRTC
import InletRTP
import InletSystem
import WebRTCEngine

/// Reads the packets of a track that a peer sends by WebRTC. Decoding is done elsewhere.
///
/// A packet is a complete access unit, and is returned as soon as its last RTP packet has arrived.
final class RemoteTrackSource: FrameSource {
    private let settings: TrackSettings
    private let uri: String
    private let makeOrigin: (ReceivingPipeline) -> any TrackOrigin
    private var origin: (any TrackOrigin)?
    private var inbox: PacketInbox?
    private var batch = PacketInbox.Batch()
    private var parameters: CodecParameters
    private let format: RTPPayloadFormat
    /// The stream of the current session; nil without a session.
    private var stream: MediaStream?
    private var session: PacketInbox.Session?
    private var timeline = JoinedTimeline(timeBase: RemoteTrackSource.timeBase)
    private var points = StartingPoints()
    private var received = ReceptionLog()
    private let size: StreamSizeFollower
    private var keyFrameRequests = 0
    /// The time when the current session, or the wait for it, started.
    private var waitingSince = MonotonicTime.now
    private var hasRead = false
    private var told: String?

    private static let timeBase = Rational(1, 90_000)
    /// The longest wait, which bounds the delay of key-frame requests.
    private static let longestWait = Duration.milliseconds(250)
    /// An upper limit for the pictures that browsers send.
    private static let largestUnit = 16 << 20

    /// - Parameters:
    ///   - uri: the source's URI without credentials, for errors.
    ///   - makeOrigin: returns the origin of the track.
    init(
        _ settings: TrackSettings, uri: String, makeOrigin: @escaping (ReceivingPipeline) -> any TrackOrigin
    ) {
        self.settings = settings
        self.uri = uri
        self.makeOrigin = makeOrigin
        parameters = CodecParameters(
            codec: settings.codec, size: ImageSize(width: 0, height: 0), timeBase: Self.timeBase)
        format = ReceivingPipeline(settings.codec)?.format ?? .h264
        let limits = settings.decoding.limits
        size = StreamSizeFollower(largest: limits.size) { limits.refusal($0) }
    }

    func open(_ context: SourceContext) throws -> SourceFormat {
        try settings.validate(isSignaled: true)
        guard let pipeline = ReceivingPipeline(settings.codec) else {
            throw InletError(.internal, "A checked codec is unknown.")
        }
        try GStreamerPeer.load()
        let inbox = try PacketInbox()
        let origin = makeOrigin(pipeline)
        (self.inbox, self.origin) = (inbox, origin)
        keyFrameRequests = context.keyFrameRequests
        waitingSince = context.clock.now
        try origin.open(inbox, context)
        if origin.vacancy == nil { try waitForSession(inbox, context) }
        var format = SourceFormat(
            size: ImageSize(width: 0, height: 0), pixelFormat: .yuv420p, timeBase: Self.timeBase, pacing: .live,
            codec: settings.codec.rawValue, container: "webrtc", isBroadcast: true)
        format.packetStream = PacketStream(parameters)
        return format
    }

    /// Waits until the session is connected.
    private func waitForSession(_ inbox: PacketInbox, _ context: SourceContext) throws(InletError) {
        while !inbox.isConnected {
            try context.checkCancellation()
            let news = inbox.news
            if news.ended > 0 { throw failure(news) }
            let end = waitingSince + settings.connectTimeout
            guard context.clock.now < end else {
                throw InletError(
                    .timedOut,
                    "No session was established within \(settings.connectTimeout.optionText). "
                        + "connect-timeout sets how long to wait.")
            }
            wait(inbox, until: end, context)
        }
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        guard let inbox, let origin else { return nil }
        defer { received.report(stream, to: context) }
        while true {
            try context.checkCancellation()
            if let unit = stream?.takeUnit() { return .packet(try packet(unit, context)) }
            inbox.bell.clear()
            let news = inbox.take(&batch)
            try follow(news, origin, context)
            let now = context.clock.now
            if let stream {
                if batch.packets.isEmpty { stream.idle(at: now) } else { context.reportProgress() }
                for (index, packet) in batch.packets.enumerated() {
                    take(
                        batch.bytes.rawBytes.extracting(packet.place), at: packet.arrival, of: stream,
                        hasMore: index + 1 < batch.packets.count)
                }
                heedKeyFrames(stream, origin, context)
                if stream.hasUnit { continue }
            }
            let limit = waitingSince + (hasRead ? settings.readTimeout : settings.firstTimeout)
            let silence = max(stream?.lastArrival ?? waitingSince, waitingSince)
            let end = hasRead ? silence + settings.readTimeout : limit
            if session != nil, now >= end { try noteSilence(origin, context) }
            let due = stream?.deadline(sendsControl: true) ?? .distantFuture
            wait(inbox, until: min(due, now + Self.longestWait), context)
        }
    }

    /// Takes an RTP or RTCP packet.
    private func take(_ packet: RawSpan, at time: MonotonicTime, of stream: MediaStream, hasMore: Bool) {
        if let number = session?.orientation, !RTCP.isControl(packet), let header = RTPHeader(packet),
            let rotation = VideoOrientation.rotation(number, header, of: packet)
        {
            parameters.rotation = rotation
        }
        stream.take(packet, at: time, hasMore: hasMore)
    }

    /// Starts with a new session, or records that the current one has ended.
    private func follow(
        _ news: PacketInbox.News, _ origin: any TrackOrigin, _ context: SourceContext
    ) throws(InletError) {
        if news.session?.number != session?.number {
            if session != nil, news.session != nil, origin.vacancy == nil {
                tell("the network changed, and the session restarts", context)
            }
            received.report(stream, to: context)
            stream?.end()
            session = news.session
            stream = news.session.map { makeStream($0, context) }
            parameters.rotation = .none
            (parameters.size, parameters.extraData) = (ImageSize(width: 0, height: 0), [])
            points = StartingPoints()
            timeline.beginStream()
            waitingSince = context.clock.now
            hasRead = false
        }
        guard news.session == nil else { return }
        guard let vacancy = origin.vacancy else { throw failure(news) }
        tell(vacancy, context)
    }

    private func makeStream(_ session: PacketInbox.Session, _ context: SourceContext) -> MediaStream {
        var reception = RTPReceiver.Settings()
        reception.payloadTypes = [session.payloadType]
        // GStreamer's jitter buffer has already reordered packets and given up on missing ones.
        reception.isOrdered = true
        var depacketizing = DepacketizerSettings()
        depacketizing.maximumSize = Self.largestUnit
        depacketizing.damage = settings.damage == .drop ? .drop : .pass
        return MediaStream(
            format, reception, depacketizing, requests: .pictureLoss, at: context.clock.now,
            hostTime: { HostTime.now })
    }

    private func failure(_ news: PacketInbox.News) -> InletError {
        (news.failure ?? InletError(.disconnected, "The peer ended the session.")).about(uri)
    }

    private func noteSilence(_ origin: any TrackOrigin, _ context: SourceContext) throws(InletError) {
        if origin.vacancy != nil { return tell("the peer sends nothing", context) }
        throw InletError(
            .timedOut,
            hasRead
                ? "No data arrived for \(settings.readTimeout.optionText). read-timeout sets how long to wait."
                : "A session was established, but no picture arrived within \(settings.firstTimeout.optionText). "
                    + "first-timeout sets how long to wait."
        ).about(uri)
    }

    private func tell(_ interruption: String?, _ context: SourceContext) {
        guard interruption != told else { return }
        told = interruption
        if let interruption { context.beginInterruption(interruption) } else { context.endInterruption() }
    }

    private func heedKeyFrames(_ stream: MediaStream, _ origin: any TrackOrigin, _ context: SourceContext) {
        let count = context.keyFrameRequests
        if count != keyFrameRequests {
            keyFrameRequests = count
            stream.requestKeyFrame()
        }
        if stream.takeKeyFrameRequest(at: context.clock.now) { origin.requestKeyFrame() }
    }

    private func packet(_ item: MediaStream.Unit, _ context: SourceContext) throws(InletError) -> SourcePacket {
        let unit = item.unit
        tell(nil, context)
        hasRead = true
        waitingSince = context.clock.now
        if unit.hasNewParameterSets, let sets = stream?.parameterSets, !sets.isEmpty {
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

    private func wait(_ inbox: PacketInbox, until end: MonotonicTime, _ context: SourceContext) {
        let end = min(end, context.deadline, .now + Self.longestWait)
        _ = inbox.bell.wait(until: end, wakeDescriptor: context.wakeUpDescriptor)
        inbox.bell.clear()
    }

    func close() {
        origin?.close()
        (origin, inbox, stream) = (nil, nil, nil)
    }
}
