import InletCore
import Logging

/// Captures the screen of an X server soon after it has changed, into memory shared with the server.
final class ScreenSource: FrameSource {
    private let configuration: ScreenConfiguration
    private var server: XServer?
    private var schedule = CaptureSchedule(interval: .zero, refresh: .zero, seesChanges: false)
    private var pictures = ScreenPictures(capacity: 0)
    /// The server's identifiers of the memory of all pictures in the set.
    private var segments: [UInt32] = []
    /// The captured part of the screen.
    private var rect = ImageRect(x: 0, y: 0, width: 0, height: 0)
    private var pixelFormat = PixelFormat.bgra
    private var stride = 0
    private var demandVersion: Int?
    private var sequence: UInt64 = 0
    private var startsAnew = false
    /// The last known position of the pointer, and the time when it was checked.
    private var pointerPlace: (x: Int, y: Int)?
    private var lastLook = MonotonicTime(nanoseconds: .min)

    static let timeBase = Rational(1, 1_000_000)
    /// The interval at which a silent server is pinged.
    private static let longestSilence = Duration.milliseconds(250)

    init(_ configuration: ScreenConfiguration) { self.configuration = configuration }

    func open(_ context: SourceContext) throws -> SourceFormat {
        try configuration.validate()
        let server = try XServer(configuration.display, context)
        guard let format = server.layout.pixelFormat else {
            throw InletError(.unsupported, "Unsupported pixel layout of the screen: \(server.layout.summary).")
        }
        self.server = server
        pixelFormat = format
        try adopt(server, context)
        schedule = CaptureSchedule(
            interval: interval(context), refresh: configuration.refresh, seesChanges: server.seesChanges)
        if !server.seesChanges {
            context.logger.notice("The X server does not report changes (DAMAGE): every frame is captured.")
        }
        if configuration.showsPointer, !showsPointer(server) {
            context.logger.notice("The pointer is not drawn: the X server lacks XFixes or BGRX pixels.")
        }
        return SourceFormat(
            size: rect.size, pixelFormat: format, frameRate: configuration.frameRate, timeBase: Self.timeBase,
            colorSpace: Self.colorSpace, sampleAspectRatio: Rational(1), pacing: .live, container: "X11")
    }

    func next(_ context: SourceContext) throws -> SourceItem? {
        guard let server else { return nil }
        while true {
            try context.checkCancellation()
            let news = try server.takeNews()
            if news.hasNewSize { try resize(server, context) }
            if news.isDamaged { schedule.noteChange() }
            if context.demandVersion != demandVersion { schedule.interval = interval(context) }
            try lookAtPointer(server, context)
            let now = context.clock.now
            if now >= schedule.due {
                if let frame = try capture(server, context) { return .frame(frame) }
                continue
            }
            var wake = min(schedule.due, lastLook + Self.longestSilence)
            if showsPointer(server) { wake = min(wake, lastLook + schedule.interval) }
            try server.wait(until: wake, context)
            if context.clock.now >= lastLook + Self.longestSilence, !showsPointer(server) {
                try server.roundTrip(context)
                noteLook(context)
            }
        }
    }

    func pause(_ context: SourceContext) throws -> Bool { true }

    func resume(_ context: SourceContext) throws { schedule.noteChange() }

    func close() { server = nil }

    /// sRGB, as on screens. The matrix is not set yet.
    static let colorSpace = ColorSpace(primaries: .bt709, transfer: .srgb)

    private func showsPointer(_ server: XServer) -> Bool {
        configuration.showsPointer && server.knowsPointer && server.layout.isBGRX
    }

    /// Returns the minimum time between pictures that satisfies all sinks.
    private func interval(_ context: SourceContext) -> Duration {
        demandVersion = context.demandVersion
        return configuration.interval(context.demand)
    }

    /// Determines the captured part and the memory that it needs.
    private func adopt(_ server: XServer, _ context: SourceContext) throws(InletError) {
        rect = try part(of: server, context)
        stride = server.layout.stride(width: rect.size.width)
        for segment in segments { server.release(segment) }
        segments = []
        pictures = ScreenPictures(capacity: configuration.buffers)
        schedule.noteChange()
    }

    private func part(of server: XServer, _ context: SourceContext) throws(InletError) -> ImageRect {
        let screen = ImageRect(x: 0, y: 0, size: server.size)
        if let region = configuration.region {
            guard region.lies(in: server.size) else {
                throw InletError(
                    .invalidConfiguration,
                    "The region \(region) is outside of the screen, which has \(server.size) pixels.")
            }
            return region
        }
        guard let name = configuration.monitor else { return screen }
        let monitors = try server.monitors(context)
        guard let monitor = monitors.first(where: { $0.name == name }), monitor.rect.lies(in: server.size) else {
            let names = String(monitors.map(\.name).joined(separator: ", ")).sanitized(limit: 200)
            throw InletError(
                .notFound, "There is no monitor '\(name)'. There \(names.isEmpty ? "are none" : "is \(names)").")
        }
        return monitor.rect
    }

    private func resize(_ server: XServer, _ context: SourceContext) throws(InletError) {
        context.logger.notice("The screen now has \(server.size) pixels.")
        let before = rect.size
        try adopt(server, context)
        startsAnew = rect.size != before
    }

    private func noteLook(_ context: SourceContext) {
        lastLook = context.clock.now
        context.reportProgress()
    }

    /// Records a change if the pointer has moved, which DAMAGE does not report.
    private func lookAtPointer(_ server: XServer, _ context: SourceContext) throws(InletError) {
        guard showsPointer(server), context.clock.now >= lastLook + schedule.interval else { return }
        let place = try server.pointerPlace(context)
        if place?.x != pointerPlace?.x || place?.y != pointerPlace?.y { schedule.noteChange() }
        pointerPlace = place
        noteLook(context)
    }

    private func capture(_ server: XServer, _ context: SourceContext) throws(InletError) -> SourceFrame? {
        let lease = try pictures.take { () throws(InletError) in
            let picture = try server.makePicture(byteCount: stride * rect.size.height, context)
            segments.append(picture.segment)
            return picture
        }
        let now = context.clock.now
        schedule.capture(at: now)
        sequence += 1
        guard let lease else {
            // The frame's missing sequence number counts as the loss.
            schedule.noteChange()
            return nil
        }
        do throws(InletError) {
            try server.capture(rect, into: lease.picture, context)
            if showsPointer(server), let pointer = try server.pointer(context) {
                lease.picture.draw(pointer, in: rect, stride: stride)
            }
        } catch {
            // The screen may have shrunk just now, and the notification may still be on its way.
            guard error.code == .formatChanged else { throw error }
            try server.roundTrip(context)
            schedule.noteChange()
            return nil
        }
        var planes = SourcePlanes()
        planes.append(lease.picture.plane(stride: stride))
        var frame = SourceFrame(
            pixelFormat: pixelFormat, size: rect.size, planes: planes, owner: lease,
            pts: MediaTime(ticks: now.nanoseconds / 1000, timeBase: Self.timeBase), sequence: sequence - 1,
            colorSpace: Self.colorSpace, flags: startsAnew ? [.key, .discontinuity] : .key,
            sampleAspectRatio: Rational(1))
        frame.captureTime = now
        startsAnew = false
        return frame
    }
}
