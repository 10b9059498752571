import Glibc
import InletCore
import Logging

/// Captures a screen shared by the desktop portal, as in Wayland sessions. The compositor sends a picture, in
/// memory that it shares, when the screen has changed.
final class PortalSource: FrameSource {
    private let configuration: ScreenConfiguration
    private var session: PortalSession?
    private var stream: CastStream?
    private var schedule = CaptureSchedule(interval: .zero, refresh: .zero, seesChanges: true)
    /// The latest picture, until the next one arrives.
    private var picture: CastStream.Picture?
    /// Whether the latest picture has not been delivered yet.
    private var isNew = false
    private var demandVersion: Int?
    private var sequence: UInt64 = 0
    private var lastSize: ImageSize?
    private var lastTime = MonotonicTime(nanoseconds: .min)
    /// The time of the last ping to PipeWire, and the number of responses.
    private var lastPing = MonotonicTime(nanoseconds: .min)
    private var answers: UInt32 = 0

    private static let timeBase = Rational(1, 1_000_000)
    private static let pingInterval = Duration.milliseconds(250)
    /// The time that the portal has, after the end of the stream, to report that it has ended the session.
    private static let grace = Duration.milliseconds(500)
    /// If a picture was apparently drawn longer ago than this, its time is from another clock.
    private static let oldest = Duration.seconds(1)

    init(_ configuration: ScreenConfiguration) { self.configuration = configuration }

    func open(_ context: SourceContext) throws -> SourceFormat {
        try configuration.validate()
        guard configuration.monitor == nil else {
            throw InletError(
                .invalidConfiguration,
                "In a Wayland session, the monitor is chosen in the desktop's dialog. Leave out monitor, or name an X server's display, such as screen::0."
            )
        }
        let session = try PortalSession(bus: configuration.bus)
        let memory = configuration.restore.map(RestoreFile.init)
        let grant = try session.open(
            PortalSession.Request(
                showsPointer: configuration.showsPointer, consent: configuration.consent,
                remembers: memory != nil, token: memory?.read(context)), context)
        let stream = try CastStream(
            remote: grant.remote, node: grant.node, rate: configuration.frameRate, buffers: configuration.buffers)
        if let memory, let token = grant.token { memory.write(token, context) }
        (self.session, self.stream) = (session, stream)
        let format = try agree(on: stream, session, context)
        schedule = CaptureSchedule(
            interval: interval(context), refresh: configuration.refresh, seesChanges: true)
        return SourceFormat(
            size: configuration.region?.size ?? format.size, pixelFormat: format.pixelFormat,
            frameRate: configuration.frameRate, timeBase: Self.timeBase, colorSpace: ScreenSource.colorSpace,
            sampleAspectRatio: Rational(1), pacing: .live, container: "PipeWire")
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        guard let session, let stream else { return nil }
        while true {
            try context.checkCancellation()
            let isStarved = try lookAt(stream, session, context)
            if context.demandVersion != demandVersion { schedule.interval = interval(context) }
            let now = context.clock.now
            if picture != nil, now >= schedule.due { return .frame(try deliver(now)) }
            var wake = now + Self.pingInterval
            if picture != nil { wake = min(wake, schedule.due) }
            // No event reports that memory was returned, so check again after an interval.
            if isStarved { wake = min(wake, now + schedule.interval) }
            var polled = [stream.polled, session.polled]
            polled.wait(until: wake, context)
        }
    }

    func pause(_ context: SourceContext) throws -> Bool {
        stream?.setActive(false)
        return true
    }

    func resume(_ context: SourceContext) throws {
        stream?.setActive(true)
        schedule.noteChange()
    }

    func close() { (picture, stream, session) = (nil, nil, nil) }

    private func interval(_ context: SourceContext) -> Duration {
        demandVersion = context.demandVersion
        return configuration.interval(context.demand)
    }

    /// Waits until the compositor has stated the format of its pictures.
    private func agree(
        on stream: CastStream, _ session: PortalSession, _ context: SourceContext
    ) throws(InletError) -> (size: ImageSize, pixelFormat: PixelFormat) {
        while true {
            if let format = try check(stream, session, context).format { return format }
            try context.checkCancellation()
            var polled = [stream.polled, session.polled]
            polled.wait(until: context.clock.now + Self.pingInterval, context)
        }
    }

    /// - Throws: ``InletError/Code/declined`` if the desktop has ended the session,
    ///   ``InletError/Code/disconnected`` if the stream is gone.
    private func check(
        _ stream: CastStream, _ session: PortalSession, _ context: SourceContext
    ) throws(InletError) -> CastStream.State {
        if try session.isClosed() { throw PortalSession.ended }
        let state = stream.run()
        guard let end = state.end else { return state }
        // The end of a session also ends its stream, which is noticed first.
        let limit = context.clock.now + Self.grace
        while context.clock.now < limit, !context.shouldGiveUp {
            if try session.isClosed() { throw PortalSession.ended }
            var polled = [session.polled]
            polled.wait(until: limit, context)
        }
        let text = end.sanitized(limit: 200)
        throw InletError(
            .disconnected,
            "The compositor ended the stream of the screen\(text.isEmpty ? "" : ": \(text)").",
            context: .init(operation: "pw_stream"))
    }

    /// Handles the received pictures and events.
    ///
    /// - Returns: whether no picture can arrive because all memory is in use.
    private func lookAt(
        _ stream: CastStream, _ session: PortalSession, _ context: SourceContext
    ) throws(InletError) -> Bool {
        let state = try check(stream, session, context)
        if let newer = try stream.take() {
            // Only the latest of several pictures in an interval is delivered.
            picture = newer
            isNew = true
            schedule.noteChange()
            context.reportProgress()
        }
        let now = context.clock.now
        if state.answers != answers {
            answers = state.answers
            context.reportProgress()
        }
        if now >= lastPing + Self.pingInterval {
            lastPing = now
            stream.ping()
        }
        return state.isStarved
    }

    /// Makes a frame of the latest picture, which may repeat the previous frame.
    private func deliver(_ now: MonotonicTime) throws(InletError) -> SourceFrame {
        guard let picture else { throw InletError(.internal, "There is no picture to deliver.") }
        var rect = picture.visible
        if let region = configuration.region {
            guard region.lies(in: rect.size) else {
                throw InletError(
                    .invalidConfiguration,
                    "The region \(region) is outside of the shared picture, which has \(rect.size) pixels.")
            }
            rect = ImageRect(x: rect.x + region.x, y: rect.y + region.y, size: region.size)
        }
        schedule.capture(at: now)
        var time = now
        if isNew, let drawn = picture.time, drawn <= now, now - drawn <= Self.oldest { time = drawn }
        time = max(time, lastTime + .microseconds(1))
        var planes = SourcePlanes()
        planes.append(
            picture.lease.plane(
                offset: picture.offset + rect.y * picture.stride + rect.x * 4, stride: picture.stride))
        let isOther = lastSize.map { $0 != rect.size } ?? false
        var frame = SourceFrame(
            pixelFormat: picture.pixelFormat, size: rect.size, planes: planes, owner: picture.lease,
            pts: MediaTime(ticks: time.nanoseconds / 1000, timeBase: Self.timeBase), sequence: sequence,
            colorSpace: ScreenSource.colorSpace, rotation: picture.rotation,
            flags: isOther ? [.key, .discontinuity] : .key, sampleAspectRatio: Rational(1))
        frame.captureTime = time
        (lastSize, lastTime, isNew) = (rect.size, time, false)
        sequence += 1
        return frame
    }
}
