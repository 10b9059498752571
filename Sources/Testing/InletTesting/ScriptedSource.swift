public import InletCore

/// A source that follows a list of steps, for tests of code that drives sources.
public final class ScriptedSource: FrameSource {
    private let script: Script
    private let log: Log
    private var remaining: ArraySlice<Step>
    private var nextSequence: UInt64 = 0
    private var context: SourceContext?

    /// One step of a source.
    public enum Step: Sendable {
        /// Yields a frame.
        case frame(ScriptedFrame)
        /// Yields a frame made by the test, in any pixel format. The closure gets the next sequence number.
        case make(@Sendable (UInt64) throws -> SourceFrame)
        /// Yields a packet if ``SourceDemand/packets`` requests them; skipped otherwise.
        case packet(ScriptedPacket)
        /// Sleeps through ``SourceContext/sleep(until:)``, as sources that pace themselves do.
        case sleep(Duration)
        /// Blocks until it is cancelled or its deadline passes, and throws that error, as a well-made source does while
        /// no data arrives.
        case hang
        /// Blocks for a time by the context's clock, ignoring cancellation: a source that breaks the contract.
        case ignoreCancellation(Duration)
        /// Stays silent for a time, like a camera whose cable is unplugged: the bridge cannot detect that it is on
        /// purpose. It can be cancelled and keeps deadlines.
        case stall(Duration)
        /// Runs a closure of the test, such as ``SourceContext/reportProgress()``, and yields nothing.
        case perform(@Sendable (SourceContext) throws -> Void)
        /// Reports that the device is unavailable for a while, and why; ``endInterruption`` or a frame ends it.
        case interrupt(String)
        /// Reports that the device is back.
        case endInterruption
        /// Counts frames as lost.
        case drop(DropReason, UInt64)
        /// Throws the error.
        case fail(InletError)
        /// Ends the stream. So does the end of the list.
        case end
    }

    /// The steps of one source from its opening to its end.
    public struct Script: Sendable {
        /// The format that the source states when it is opened.
        public var format: SourceFormat
        /// The steps before `open` returns. Frames and ends are skipped.
        public var opening: [Step]
        /// The steps of `next`, one after another.
        public var steps: [Step]
        /// The steps before `close` returns, up to the first that throws. Frames and ends are skipped. Empty by
        /// default.
        public var closing: [Step]
        /// Whether the source stays open during a pause. The default is false.
        public var standsStill = false

        public init(
            format: SourceFormat = ScriptedSource.format(), opening: [Step] = [], closing: [Step] = [],
            standsStill: Bool = false, _ steps: [Step]
        ) {
            self.format = format
            self.standsStill = standsStill
            self.opening = opening
            self.closing = closing
            self.steps = steps
        }
    }

    init(_ script: Script, log: Log) {
        self.script = script
        self.log = log
        remaining = script.steps[...]
        log.record(.made)
    }

    /// Plays the opening of the script.
    public func open(_ context: SourceContext) throws -> SourceFormat {
        log.record(.open)
        self.context = context
        for step in script.opening { _ = try perform(step, context) }
        return script.format
    }

    /// Plays the next steps up to a frame, a packet, an error or the end.
    public func next(_ context: SourceContext) throws -> SourceItem? {
        log.record(.next)
        while let step = remaining.popFirst() {
            switch try perform(step, context) {
            case .goOn: continue
            case .yield(let item): return item
            case .end: return nil
            }
        }
        return nil
    }

    /// Pauses if ``Script/standsStill`` is true.
    public func pause(_ context: SourceContext) throws -> Bool {
        log.record(.pause)
        return script.standsStill
    }

    /// Records that the source resumed.
    public func resume(_ context: SourceContext) throws { log.record(.resume) }

    /// Plays the closing of the script. A step's error ends it, as `close` cannot throw.
    public func close() {
        log.record(.close)
        guard let context else { return }
        do {
            for step in script.closing { _ = try perform(step, context) }
        } catch {}
    }

    /// Returns a format for scripts: 64x48, 30 frames a second with one tick each, unpaced.
    public static func format(
        size: ImageSize = ImageSize(width: 64, height: 48), timeBase: Rational = Rational(1, 30),
        pacing: SourcePacing = .unpaced
    ) -> SourceFormat {
        SourceFormat(
            size: size, pixelFormat: .yuv420p, frameRate: timeBase.reciprocal, timeBase: timeBase,
            colorSpace: .bt601, pacing: pacing, container: "script")
    }

    private enum Outcome {
        case goOn
        case yield(SourceItem)
        case end
    }

    private func perform(_ step: Step, _ context: SourceContext) throws -> Outcome {
        switch step {
        case .frame(let frame): return yield(try frame.make(nextSequence: nextSequence, format: script.format))
        case .make(let make): return yield(try make(nextSequence))
        case .packet(let packet):
            return !context.demand.packets ? .goOn : .yield(.packet(packet.make(format: script.format)))
        case .sleep(let duration): try context.sleep(until: context.clock.now + duration)
        case .hang: try context.sleep(until: .distantFuture)
        case .ignoreCancellation(let duration):
            let end = context.clock.now + duration
            while context.clock.now < end { _ = context.clock.wait(until: end, wakeUpDescriptor: -1) }
        case .stall(let duration):
            let end = context.clock.now + duration
            while context.clock.now < end {
                _ = context.clock.wait(until: min(end, context.deadline), wakeUpDescriptor: context.wakeUpDescriptor)
                try context.checkCancellation()
            }
        case .perform(let body): try body(context)
        case .interrupt(let reason): context.beginInterruption(reason)
        case .endInterruption: context.endInterruption()
        case .drop(let reason, let count): context.countDrop(reason, count)
        case .fail(let error): throw error
        case .end: return .end
        }
        return .goOn
    }

    private func yield(_ frame: SourceFrame) -> Outcome {
        nextSequence = frame.sequence + 1
        return .yield(.frame(frame))
    }
}

/// A frame of a ``ScriptedSource``: a grey picture whose luma is 16 plus the sequence number modulo 200.
public struct ScriptedFrame: Sendable {
    /// The PTS in ticks of the format's time base; nil for a frame without one.
    public var pts: Int64?
    /// The duration in the same ticks. The default is nil.
    public var duration: Int64?
    /// The size. The default, nil, is the format's.
    public var size: ImageSize?
    /// The sequence number. The default, nil, is one more than the frame before.
    public var sequence: UInt64?
    /// Facts about the frame.
    public var flags: FrameFlags
    /// The colour space. The default, nil, is the format's.
    public var colorSpace: ColorSpace?
    /// The rotation. The default, nil, is the format's.
    public var rotation: Rotation?

    public init(
        pts: Int64?, duration: Int64? = nil, size: ImageSize? = nil, sequence: UInt64? = nil, flags: FrameFlags = [],
        colorSpace: ColorSpace? = nil, rotation: Rotation? = nil
    ) {
        self.pts = pts
        self.duration = duration
        self.size = size
        self.sequence = sequence
        self.flags = flags
        self.colorSpace = colorSpace
        self.rotation = rotation
    }

    /// Returns the luma of the frame with a sequence number.
    public static func luma(sequence: UInt64) -> UInt8 { 16 + UInt8(sequence % 200) }

    func make(nextSequence: UInt64, format: SourceFormat) throws -> SourceFrame {
        let number = sequence ?? nextSequence
        var draft = try I420Draft(size: size ?? format.size)
        draft.fill(y: Self.luma(sequence: number), u: 128, v: 128)
        return SourceFrame(
            draft.publish(), pts: pts.map { MediaTime(ticks: $0, timeBase: format.timeBase) },
            duration: duration.map { MediaTime(ticks: $0, timeBase: format.timeBase) }, sequence: number,
            colorSpace: colorSpace ?? format.colorSpace, rotation: rotation ?? format.rotation, flags: flags)
    }
}

/// A packet of a ``ScriptedSource``: one byte, which no decoder understands.
public struct ScriptedPacket: Sendable {
    /// The PTS in ticks of the format's time base.
    public var pts: Int64
    /// The DTS in the same ticks. The default, nil, is the PTS.
    public var dts: Int64?
    /// Facts about the packet. The default is ``PacketFlags/key``.
    public var flags: PacketFlags

    public init(pts: Int64, dts: Int64? = nil, flags: PacketFlags = .key) {
        self.pts = pts
        self.dts = dts
        self.flags = flags
    }

    func make(format: SourceFormat) -> SourcePacket {
        SourcePacket(
            parameters: CodecParameters(codec: .h264, size: format.size, timeBase: format.timeBase),
            data: PacketData([UInt8(truncatingIfNeeded: pts)]), pts: MediaTime(ticks: pts, timeBase: format.timeBase),
            dts: MediaTime(ticks: dts ?? pts, timeBase: format.timeBase),
            duration: MediaTime(ticks: 1, timeBase: format.timeBase), flags: flags)
    }
}

extension [ScriptedSource.Step] {
    /// Returns frames with PTS 0, 1, 2 and so on.
    public static func frames(_ count: Int) -> Self {
        (0..<count).map { .frame(ScriptedFrame(pts: Int64($0), duration: 1)) }
    }
}
