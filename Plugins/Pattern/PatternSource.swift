import InletCore

/// A source that draws its own pictures.
///
/// With ``PatternConfiguration/Pace-swift.enum/realtime`` it behaves like a camera: frame n is due n intervals after
/// the first call of ``next(_:)``, always counted from that call so that errors do not add up. If the next frame is
/// already due when the caller returns, the current frame is lost, which shows as a gap in the sequence. Such a source
/// is ``SourcePacing/live``. With ``PatternConfiguration/Pace-swift.enum/unpaced`` the source is
/// ``SourcePacing/unpaced`` and loses no frames.
///
/// If sinks demand fewer frames, the source wakes for and draws only evenly spaced ones. The frames in between, and
/// those during a pause, are never made: the PTS skips them, but the sequence does not.
///
/// A still pattern is drawn once, and every frame shares that picture. A moving one is drawn into a pool.
final class PatternSource: FrameSource {
    private let configuration: PatternConfiguration
    private let pool: I420BufferPool
    /// Draws the pattern; nil until ``open(_:)`` has checked the configuration.
    private var painter: (any PatternPainter)?
    private var still: I420Buffer?
    private var start: MonotonicTime?
    /// The frames to draw for the latest demand.
    private var demanded: DemandedFrames
    private var demandedRate: Rational?
    private var demandVersion: Int?
    /// The index of the next frame in ``demanded``.
    private var nextIndex: UInt64 = 0
    private var nextSequence: UInt64 = 0

    /// The longest sleep, which bounds the delay until a higher demand takes effect.
    private static let longestSleep = Duration.milliseconds(500)

    /// Creates a source that draws nothing yet.
    init(_ configuration: PatternConfiguration) {
        self.configuration = configuration
        pool = I420BufferPool(capacity: configuration.buffers)
        demanded = DemandedFrames(from: 0, at: nil, of: configuration.frameRate)
    }

    /// Checks the configuration and draws the picture of a still pattern.
    func open(_ context: SourceContext) throws -> SourceFormat {
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
    func next(_ context: SourceContext) throws -> SourceItem? {
        while true {
            try context.checkCancellation()
            if configuration.pace == .realtime { try waitForNextFrame(context) } else { followDemand(context) }
            let number = demanded.number(nextIndex)
            guard !isBeyondEnd(number) else { return nil }
            nextIndex += 1
            let drawn = configuration.pace == .realtime ? context.clock.now : nil
            let shownTime = drawn?.nanoseconds ?? time(of: number).nanoseconds
            guard let buffer = try picture(number, time: shownTime, context) else {
                context.countDrop(.poolExhausted)
                continue
            }
            var frame = SourceFrame(
                buffer, pts: time(of: number), duration: time(of: 1), sequence: nextSequence,
                colorSpace: configuration.colorSpace, flags: .key)
            frame.captureTime = drawn
            nextSequence += 1
            return .frame(frame)
        }
    }

    /// Draws nothing until the pause ends. Time continues, as for a camera.
    func pause(_ context: SourceContext) throws -> Bool { true }

    /// Continues with the frame that is due now.
    func resume(_ context: SourceContext) throws { selectFrames(context) }

    /// Releases the picture of a still pattern.
    func close() { still = nil }

    private func time(of frame: UInt64) -> MediaTime {
        MediaTime(ticks: Int64(clamping: frame), timeBase: configuration.timeBase)
    }

    private func isBeyondEnd(_ number: UInt64) -> Bool { configuration.frames > 0 && number >= configuration.frames }

    /// Returns the number of the latest frame that is due by the clock; nil before the first frame.
    private func dueNumber(_ context: SourceContext) -> UInt64? {
        guard let start else { return nil }
        let elapsed = (context.clock.now - start).wholeNanoseconds
        let ticks = MediaTime(ticks: elapsed, timeBase: Rational(1, 1_000_000_000))
            .rescaled(to: configuration.timeBase).ticks
        let number = UInt64(clamping: ticks)
        // Due times are rounded down to a nanosecond, so the next frame may be due slightly before its exact time.
        return time(of: number + 1).nanoseconds <= elapsed ? number + 1 : number
    }

    private func followDemand(_ context: SourceContext) {
        let version = context.demandVersion
        guard version != demandVersion else { return }
        demandVersion = version
        let rate = context.demand.maximumFrameRate
        guard rate != demandedRate else { return }
        demandedRate = rate
        selectFrames(context)
    }

    /// Selects the frames to draw from now on. Earlier ones were not wanted, so none of them counts as lost.
    private func selectFrames(_ context: SourceContext) {
        let following = nextIndex == 0 ? demanded.first : min(demanded.number(nextIndex - 1), .max - 1) + 1
        demanded = DemandedFrames(
            from: max(following, dueNumber(context) ?? 0), at: demandedRate, of: configuration.frameRate)
        nextIndex = 0
    }

    /// Skips frames whose time has passed, and sleeps until the next is due.
    private func waitForNextFrame(_ context: SourceContext) throws {
        while true {
            passOverLostFrames(context)
            followDemand(context)
            guard let start else {
                start = context.clock.now
                return
            }
            let number = demanded.number(nextIndex)
            let due = start + .nanoseconds(time(of: number).nanoseconds)
            let now = context.clock.now
            guard !isBeyondEnd(number), due > now else { return }
            try context.sleep(until: min(due, now + Self.longestSleep))
        }
    }

    /// Leaves a gap in the sequence for frames that were not consumed before the next one was due.
    private func passOverLostFrames(_ context: SourceContext) {
        guard let due = dueNumber(context) else { return }
        if isBeyondEnd(due) {
            // After the last frame, no later frame would show the gap.
            let all = demanded.count(through: configuration.frames - 1)
            if all > nextIndex { context.countDrop(.lostBySource, all - nextIndex) }
            nextIndex = max(nextIndex, all)
        } else {
            let newest = demanded.count(through: due)
            guard newest > nextIndex + 1 else { return }
            nextSequence += newest - 1 - nextIndex
            nextIndex = newest - 1
        }
    }

    /// Returns the picture of a frame, or nil if sinks hold all memory.
    private func picture(_ number: UInt64, time: Int64, _ context: SourceContext) throws -> I420Buffer? {
        if let still { return still }
        guard let painter, var draft = try memory(context) else { return nil }
        painter.paint(&draft, frame: number, time: time)
        return draft.publish()
    }

    /// Returns memory to draw into. A paced source waits for its next frame anyway. An unpaced source waits briefly,
    /// so that a sink that never releases its pictures costs frames but causes neither a busy loop nor a deadlock.
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
