public import InletCore
import InletSystem

/// A source that delivers the items pushed into a ``FrameInjector``. It is live: timestamps follow the pushed PTS or
/// the time of the push.
///
/// If the injector's configuration states no size, opening waits for the first picture.
public final class InjectedSource: FrameSource {
    private let injector: FrameInjector
    private var reader: InjectorReader?
    /// The interruption that was reported to the bridge.
    private var told: String?
    private var keyFrameRequests = 0
    /// The last pushed picture and the time of its delivery, if pictures are repeated.
    private var last: (frame: SourceFrame, time: MonotonicTime)?
    private var lastYield = MonotonicTime(nanoseconds: 0)

    /// The longest wait, which bounds the delay until the application sees a key-frame request.
    private static let longestWait = Duration.milliseconds(250)

    /// Creates a source that does not read anything yet.
    public init(_ injector: FrameInjector) { self.injector = injector }

    /// Attaches this source to the injector.
    ///
    /// - Throws: ``InletError/Code/busy`` if another source is attached; ``InletError/Code/timedOut`` if no picture is
    ///   pushed in time and no size is stated; the error of ``FrameInjector/fail(_:)``.
    public func open(_ context: SourceContext) throws -> SourceFormat {
        try context.checkCancellation()
        let reader = try InjectorReader(context, handsOver: injector.configuration.repeatAfter == nil)
        try injector.attach(reader)
        self.reader = reader
        keyFrameRequests = context.keyFrameRequests
        let configuration = injector.configuration
        if let stream = configuration.packetStream { return format(of: stream) }
        if let size = configuration.size {
            return format(size, configuration.pixelFormat, of: nil)
        }
        while true {
            switch injector.peek() {
            case .item(let item):
                guard let frame = item.frame else { throw InletError(.internal, "A packet among pictures.") }
                return format(frame.size, frame.pixelFormat, of: frame)
            case .ended: throw InletError(.streamEnded, "The injector ended before its first picture.")
            case .failed(let error): throw error
            case .empty(let interruption):
                tell(interruption, context)
                try wait(reader, for: Self.longestWait, context)
            }
        }
    }

    private func format(_ size: ImageSize, _ pixelFormat: PixelFormat, of frame: SourceFrame?) -> SourceFormat {
        SourceFormat(
            size: size, pixelFormat: pixelFormat, frameRate: injector.configuration.frameRate,
            timeBase: injector.configuration.timeBase, colorSpace: frame?.colorSpace ?? .unspecified,
            rotation: frame?.rotation ?? .none, sampleAspectRatio: frame?.sampleAspectRatio, pacing: .live,
            container: "inject")
    }

    private func format(of stream: PacketStream) -> SourceFormat {
        let parameters = stream.parameters
        var format = SourceFormat(
            size: parameters.size, pixelFormat: parameters.pixelFormat, frameRate: parameters.frameRate,
            timeBase: parameters.timeBase, colorSpace: parameters.colorSpace, rotation: parameters.rotation,
            sampleAspectRatio: parameters.sampleAspectRatio, pacing: .live, codec: parameters.codec.rawValue,
            container: "inject")
        format.packetStream = stream
        return format
    }

    /// Waits for the next push.
    public func next(_ context: SourceContext) throws -> SourceItem? {
        guard let reader else { throw InletError(.internal, "The source is not open.") }
        while true {
            if context.isCancelled { try context.checkCancellation() }
            switch injector.take() {
            case .item(.frame(let frame)):
                tell(nil, context)
                return .frame(number(frame, reader, context))
            case .item(.packet(let packet)):
                tell(nil, context)
                return .packet(packet)
            case .ended: return nil
            case .failed(let error): throw error
            case .empty(let interruption):
                tell(interruption, context)
                passOnKeyFrameRequests(context)
                if interruption == nil, let again = repetition(reader, context) { return .frame(again) }
                try wait(reader, for: interruption == nil ? timeToRepetition(context) : Self.longestWait, context)
            }
        }
    }

    private func number(_ frame: SourceFrame, _ reader: InjectorReader, _ context: SourceContext) -> SourceFrame {
        var frame = frame
        frame.sequence = reader.nextSequence()
        if injector.configuration.repeatAfter != nil {
            lastYield = context.clock.now
            last = (frame, lastYield)
        }
        return frame
    }

    private func timeToRepetition(_ context: SourceContext) -> Duration {
        guard let interval = injector.configuration.repeatAfter, last != nil else { return Self.longestWait }
        return min(Self.longestWait, lastYield + interval - context.clock.now)
    }

    /// Returns the last picture again if it is time to repeat it.
    private func repetition(_ reader: InjectorReader, _ context: SourceContext) -> SourceFrame? {
        guard let interval = injector.configuration.repeatAfter, let last else { return nil }
        let now = context.clock.now
        guard now - lastYield >= interval else { return nil }
        var frame = last.frame
        let passed = MediaTime(
            ticks: (now - last.time).wholeNanoseconds, timeBase: Rational(1, 1_000_000_000))
        frame.pts = frame.pts.map {
            MediaTime(
                ticks: $0.ticks.adding(saturating: passed.rescaled(to: $0.timeBase).ticks), timeBase: $0.timeBase)
        }
        guard injector.repeats(at: frame.pts) else { return nil }
        frame.captureTime = now
        frame.flags.remove(.discontinuity)
        frame.sequence = reader.nextSequence()
        lastYield = now
        return frame
    }

    private func tell(_ interruption: String?, _ context: SourceContext) {
        guard interruption != told else { return }
        told = interruption
        if let interruption { context.beginInterruption(interruption) } else { context.endInterruption() }
    }

    private func passOnKeyFrameRequests(_ context: SourceContext) {
        let count = context.keyFrameRequests
        guard count != keyFrameRequests else { return }
        injector.noteKeyFrameRequests(count &- keyFrameRequests)
        keyFrameRequests = count
    }

    /// Waits for a push, for cancellation, or until the time has passed.
    private func wait(_ reader: InjectorReader, for time: Duration, _ context: SourceContext) throws(InletError) {
        if context.isCancelled { try context.checkCancellation() }
        let left = context.deadline - context.clock.now
        guard left > .zero else {
            throw InletError(
                .timedOut,
                "Nothing was pushed into the injector in time. If that is normal, set repeatAfter, or call "
                    + "beginInterruption while there is nothing to push.")
        }
        _ = reader.bell.wait(until: .now + max(.zero, min(time, left)), wakeDescriptor: context.wakeUpDescriptor)
        reader.bell.clear()
    }

    /// Causes pushes to be dropped until the pause ends.
    public func pause(_ context: SourceContext) throws -> Bool {
        injector.setPaused(true)
        return true
    }

    /// Continues with later pushes.
    public func resume(_ context: SourceContext) throws {
        injector.setPaused(false)
        lastYield = context.clock.now
    }

    /// Detaches from the injector, so that the next source can read it.
    public func close() {
        last = nil
        if let reader { injector.detach(reader) }
        reader = nil
    }
}
