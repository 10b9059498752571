public import InletCore

/// A source that draws its own pictures.
///
/// With ``PatternConfiguration/Pace-swift.enum/realtime`` it behaves as a camera: frame n is due n intervals after the first call of
/// ``nextFrame(_:)``, counted from there each time so that no error adds up. A frame whose successor is already due when the
/// caller comes back is lost: its sequence number is skipped and counted as ``DropReason/lostBySource``. Such a source says it is
/// ``SourcePacing/live``; one with ``PatternConfiguration/Pace-swift.enum/unpaced`` is ``SourcePacing/unpaced`` and loses none.
///
/// A still pattern is drawn once, and every frame shares that picture. A moving one is drawn into a pool.
public final class PatternSource: FrameSource {
    private let configuration: PatternConfiguration
    private let pool: I420BufferPool
    /// Nil before the opening, which checks the configuration.
    private var painter: (any PatternPainter)?
    private var still: I420Buffer?
    private var start: MonotonicTime?
    private var nextNumber: UInt64 = 0

    /// Draws nothing yet.
    public init(_ configuration: PatternConfiguration) {
        self.configuration = configuration
        pool = I420BufferPool(capacity: configuration.buffers)
    }

    /// Checks the configuration and draws what stands still.
    public func open(_ context: SourceContext) throws -> SourceFormat {
        try configuration.validate()
        try context.checkCancellation()
        let painter = configuration.makePainter()
        self.painter = painter
        if configuration.pattern.isStill {
            var draft = try I420Draft(size: configuration.size)
            painter.paint(&draft, frame: 0, time: 0)
            still = draft.publish()
        }
        return SourceFormat(
            size: configuration.size, pixelFormat: .yuv420p, frameRate: configuration.frameRate,
            timeBase: configuration.timeBase, colorSpace: configuration.colorSpace, sampleAspectRatio: Rational(1),
            pacing: configuration.pace == .realtime ? .live : .unpaced,
            duration: configuration.frames == 0 ? nil : time(of: configuration.frames), container: "pattern")
    }

    /// Waits until the next picture is due and draws it.
    public func nextFrame(_ context: SourceContext) throws -> SourceFrame? {
        while true {
            try context.checkCancellation()
            if configuration.pace == .realtime { try waitForNextFrame(context) }
            guard configuration.frames == 0 || nextNumber < configuration.frames else { return nil }
            let number = nextNumber
            nextNumber += 1
            let drawn = configuration.pace == .realtime ? context.clock.now : nil
            let shownTime = drawn?.nanoseconds ?? time(of: number).nanoseconds
            guard let buffer = try picture(number, time: shownTime, context) else {
                context.countDrop(.poolExhausted)
                continue
            }
            var frame = SourceFrame(
                buffer, pts: time(of: number), duration: time(of: 1), sequence: number,
                colorSpace: configuration.colorSpace, flags: .key)
            frame.captureTime = drawn
            return frame
        }
    }

    /// Lets go of the picture that stands still.
    public func close() { still = nil }

    private func time(of frame: UInt64) -> MediaTime {
        MediaTime(ticks: Int64(clamping: frame), timeBase: configuration.timeBase)
    }

    /// Passes over the frames whose time has gone, and sleeps until the next is due.
    private func waitForNextFrame(_ context: SourceContext) throws {
        guard let start else {
            start = context.clock.now
            return
        }
        let elapsed = MediaTime(
            ticks: (context.clock.now - start).wholeNanoseconds, timeBase: Rational(1, 1_000_000_000))
        var current = UInt64(clamping: elapsed.rescaled(to: configuration.timeBase).ticks)
        if configuration.frames > 0 { current = min(current, configuration.frames) }
        if current > nextNumber {
            context.countDrop(.lostBySource, current - nextNumber)
            nextNumber = current
        } else if configuration.frames == 0 || nextNumber < configuration.frames {
            try context.sleep(until: start + .nanoseconds(time(of: nextNumber).nanoseconds))
        }
    }

    /// The picture of a frame, or nil where sinks hold all memory.
    private func picture(_ number: UInt64, time: Int64, _ context: SourceContext) throws -> I420Buffer? {
        if let still { return still }
        guard let painter, var draft = try memory(context) else { return nil }
        painter.paint(&draft, frame: number, time: time)
        return draft.publish()
    }

    /// Memory to draw into. A paced source has the next frame to come to; one that is not waits a while, so that a sink which holds
    /// every picture for ever costs frames, but neither a busy loop nor a standstill.
    private func memory(_ context: SourceContext) throws -> I420Draft? {
        let giveUp = context.clock.now + (configuration.pace == .realtime ? .zero : .milliseconds(100))
        while true {
            do throws(InletError) {
                return try pool.makeBuffer(size: configuration.size)
            } catch {
                guard error.code == .resourceExhausted else { throw error }
            }
            let now = context.clock.now
            guard now < giveUp else { return nil }
            try context.sleep(until: min(giveUp, now + .milliseconds(1)))
        }
    }
}
