import Dispatch
import InletConvert
import InletCore
import Synchronization

/// One source on one thread, from opening to closing: reads frames, stamps them, and offers them to the receivers.
///
/// Everything but `start` and `cancel` runs on the capture thread.
final class CaptureSession: Sendable {
    /// What a session tells its capturer, from the capture thread.
    struct Callbacks: Sendable {
        var opened: @Sendable (SourceFormat) -> Void
        /// The receivers attached now, and a number that changes with them.
        var receivers: @Sendable () -> [any FrameReceiver]
    }

    let context: SourceContext
    /// Resolved when the source is closed and the thread is about to end, or when it was given up.
    let completion = Completion<Result<EndReason, InletError>>()
    /// Resolved when the thread is really about to end.
    let counters: SessionCounters

    private let source: any FrameSourceConfiguration
    private let configuration: CapturerConfiguration
    private let callbacks: Callbacks
    private let wakeUp: WakeUpSignal
    private let room = ProducerGate()
    private let requestedEnd = Mutex(EndReason?.none)
    private let receiversVersion = Atomic(0)

    init(
        source: any FrameSourceConfiguration, configuration: CapturerConfiguration, clock: any CaptureClock,
        counters: SessionCounters, callbacks: Callbacks
    ) throws(InletError) {
        self.source = source
        self.configuration = configuration
        self.counters = counters
        self.callbacks = callbacks
        wakeUp = try WakeUpSignal()
        context = SourceContext(clock: clock, wakeUpDescriptor: wakeUp.descriptor, logger: configuration.logger)
    }

    func start() throws(InletError) {
        let scheme = source.redactedURI.prefix { $0 != ":" }
        try CaptureThread.start(named: "inlet-\(scheme)") { self.main() }
    }

    /// Asks the source to stop. Returns at once; ``completion`` tells when it has.
    func cancel(_ reason: EndReason) {
        requestedEnd.withLock { $0 = $0 ?? reason }
        context.cancel()
        wakeUp.raise()
        room.signal()
        DispatchQueue.global().asyncAfter(
            deadline: .now() + .nanoseconds(Int(clamping: configuration.stopTimeout.wholeNanoseconds))
        ) {
            self.completion.resolve(
                .failure(
                    InletError(
                        .timedOut,
                        """
                        The source did not stop within \(self.configuration.stopTimeout); its thread is given up and goes on by itself. \
                        This is a fault of the source plug-in.
                        """, context: .init(subject: self.source.redactedURI, operation: "stop"))))
        }
    }

    /// The receivers have changed; look at them again before the next frame.
    func receiversChanged() { receiversVersion.add(1, ordering: .releasing) }

    private func main() {
        let source = source.makeSource()
        let result = capture(from: source)
        source.close()
        counters.setSourceDrops(context.dropCounts)
        completion.resolve(result)
    }

    private func capture(from source: any FrameSource) -> Result<EndReason, InletError> {
        do {
            let format = try source.open(context)
            if let end = endIfCancelled { return .success(end) }
            callbacks.opened(format)
            return try readFrames(from: source, format: format)
        } catch {
            // A source that was told to stop may fail in any way while it does.
            if let end = endIfCancelled { return .success(end) }
            return .failure(InletError(wrapping: error, operation: "The source").about(self.source.redactedURI))
        }
    }

    private func readFrames(from source: any FrameSource, format: SourceFormat) throws -> Result<EndReason, InletError>
    {
        var frameClock = FrameClock(pacing: format.pacing, timestampBits: format.timestampBits)
        var receivers: [any FrameReceiver] = []
        var seenVersion = -1
        var count: UInt64 = 0
        var nextSequence: UInt64?
        var firstTimestamp: MonotonicTime?
        while true {
            if let limit = configuration.frameLimit, count >= limit { return .success(.frameLimit) }
            guard var frame = try source.nextFrame(context) else {
                return .success(endIfCancelled ?? .endOfStream)
            }
            if let end = endIfCancelled { return .success(end) }
            let arrival = context.clock.now
            let stamp = frameClock.stamp(
                pts: frame.pts, arrival: min(frame.captureTime ?? arrival, arrival),
                startsAnew: frame.flags.contains(.discontinuity), wallClock: frame.wallClock)
            let timestamp = stamp.time
            frame.wallClock = stamp.wallClock
            let first = firstTimestamp ?? timestamp
            firstTimestamp = first
            if let limit = configuration.durationLimit, timestamp - first >= limit { return .success(.durationLimit) }

            count += 1
            if let nextSequence, frame.sequence > nextSequence {
                counters.lostInSequence.add(frame.sequence - nextSequence, ordering: .relaxed)
            }
            nextSequence = frame.sequence &+ 1
            counters.frameArrived(at: arrival, timestamp: timestamp)
            counters.setSourceDrops(context.dropCounts)

            let version = receiversVersion.load(ordering: .acquiring)
            if version != seenVersion {
                receivers = callbacks.receivers()
                seenVersion = version
                for receiver in receivers { receiver.begin(format, room: room) }
            }
            guard !receivers.isEmpty else { continue }
            var stages = StageTimes()
            stages.captured = frame.captureTime
            stages.received = frame.receiveTime
            stages.decoded = arrival
            stages.queued = arrival
            let captured = CapturedFrame(frame, timestamp: timestamp, stages: stages)
            for receiver in receivers { receiver.offer(captured) { context.isCancelled } }
        }
    }

    private var endIfCancelled: EndReason? {
        context.isCancelled ? requestedEnd.withLock { $0 } ?? .cancelled : nil
    }
}
