public import Logging
import Synchronization

/// The environment that the bridge provides to a source: the clock, a way to sleep, cancellation, a log, and counters
/// of losses.
///
/// Safe from any thread: a library's callback may read it while the capture thread is inside the library.
public final class SourceContext: Sendable {
    /// The logger for messages that may interest people.
    public let logger: Logger
    /// The clock of the capture timeline.
    public let clock: any CaptureClock
    /// Becomes readable when the source is cancelled, and stays so: poll it along with the device. It belongs to the
    /// bridge; do not read or close it. -1 if the clock is not the system's.
    public let wakeUpDescriptor: Int32

    private let cancelled = Atomic(false)
    private let limits = Mutex(OperationLimits())
    /// The effective deadline, for callers that check often.
    private let deadlineNanoseconds = Atomic(Int64.max)
    private let awaitsProgress = Atomic(false)
    private let drops = Mutex([DropReason: UInt64]())
    private let received = Mutex(ReceptionFigures?.none)
    private let wanted = Mutex(SourceDemand.everything)
    private let wantedVersion = Atomic(0)
    private let keyFrames = Mutex(KeyFrameRequests())
    private let awaitsKeyFrame = Atomic(false)
    private let keyFrameCount = Atomic(0)
    private let interruptionText = Mutex(String?.none)
    private let interrupted = Atomic(false)
    /// The time at which the last interruption began.
    private let interruptedSince = Atomic(Int64.min)
    private let onInterruption: @Sendable (String?) -> Void
    private let onProgress: @Sendable () -> Void
    private let onLag: @Sendable (Bool) -> Void
    private let onDecoderFailure: @Sendable (String, InletError, String) -> Void
    private let onUpdate: @Sendable (SourceUpdate) -> Void
    private let onDetection: @Sendable (SourceDetection) -> Void
    private let onTransportChange: @Sendable (String) -> Void
    private let onHandOver: @Sendable (SourceFrame) -> Bool

    /// Makes a context. Called by the bridge and by tests.
    ///
    /// - Parameters:
    ///   - clock: the clock of the capture timeline.
    ///   - wakeUpDescriptor: becomes readable when the source is cancelled. The default, -1, means none.
    ///   - logger: receives messages that may interest people.
    ///   - onInterruption: called, on the source's thread, with the reason when an interruption begins and with nil
    ///     when it ends.
    ///   - onProgress: called, on the thread that reports it, at the first progress after the bridge has asked to be
    ///     notified.
    ///   - onLag: called, on the thread that decodes, with true when pictures begin to be skipped because decoding does
    ///     not keep up, and with false when skipping ends.
    ///   - onDecoderFailure: called, on the thread that decodes, with the name of a decoder that failed, its error, and
    ///     the name of the next.
    ///   - onUpdate: called, on any thread, when a new version of the source's code was found and used, or refused.
    ///   - onDetection: called, on any thread, when the source has detected something in its picture, and when the
    ///     detection ends.
    ///   - onTransportChange: called, on the source's thread, with the reason as sentences, when the source continues
    ///     over another transport.
    ///   - onHandOver: called, on any thread, with the frames of ``handOver(_:)``. Returns whether it took the frame.
    public init(
        clock: any CaptureClock, wakeUpDescriptor: Int32 = -1, logger: Logger,
        onInterruption: @escaping @Sendable (String?) -> Void = { _ in },
        onProgress: @escaping @Sendable () -> Void = {}, onLag: @escaping @Sendable (Bool) -> Void = { _ in },
        onDecoderFailure: @escaping @Sendable (String, InletError, String) -> Void = { _, _, _ in },
        onUpdate: @escaping @Sendable (SourceUpdate) -> Void = { _ in },
        onDetection: @escaping @Sendable (SourceDetection) -> Void = { _ in },
        onTransportChange: @escaping @Sendable (String) -> Void = { _ in },
        onHandOver: @escaping @Sendable (SourceFrame) -> Bool = { _ in false }
    ) {
        self.onHandOver = onHandOver
        self.onDetection = onDetection
        self.onTransportChange = onTransportChange
        self.onUpdate = onUpdate
        self.onDecoderFailure = onDecoderFailure
        self.onLag = onLag
        self.onInterruption = onInterruption
        self.onProgress = onProgress
        self.clock = clock
        self.wakeUpDescriptor = wakeUpDescriptor
        self.logger = logger
    }

    /// Whether the source should stop and throw ``InletError/Code/cancelled``.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// The time at which the current operation should have ended; ``MonotonicTime/distantFuture`` if there is no
    /// deadline.
    public var deadline: MonotonicTime {
        MonotonicTime(nanoseconds: deadlineNanoseconds.load(ordering: .acquiring))
    }

    /// Whether the operation should give up: it was cancelled, or its deadline passed.
    public var shouldGiveUp: Bool { isCancelled || clock.now >= deadline }

    /// - Throws: ``InletError/Code/cancelled`` if the source was cancelled, ``InletError/Code/timedOut`` if the
    ///   deadline of the operation has passed.
    public func checkCancellation() throws(InletError) {
        if isCancelled { throw InletError(.cancelled, "The source was stopped.") }
        if clock.now >= deadline { throw InletError(.timedOut, "The source took too long.") }
    }

    /// Waits until `time`, for sources that pace themselves. A sleep of up to ``longestPlannedSleep`` extends the
    /// deadline by as much: it is no sign that the source hangs.
    ///
    /// - Throws: as ``checkCancellation()``, as soon as that would throw.
    public func sleep(until time: MonotonicTime) throws(InletError) {
        try checkCancellation()
        let length = time - clock.now
        if length > .zero, length <= Self.longestPlannedSleep { change { $0.postpone(by: length) } }
        while clock.now < time {
            let end = min(time, deadline)
            _ = clock.wait(until: end, wakeUpDescriptor: wakeUpDescriptor)
            try checkCancellation()
        }
    }

    /// The longest sleep that extends the deadline: one hour. A longer one counts as waiting for something.
    public static let longestPlannedSleep = Duration.seconds(3600)

    /// Reports that data has arrived from the device or the server, whether or not it yields a frame: a source that
    /// receives packets but withholds them is alive. Cheap enough for every packet.
    ///
    /// The bridge counts each frame as progress. A source that reports progress gets three times as long for its next
    /// frame, and longer if sinks want few (``SourceDemand/maximumFrameRate``).
    public func reportProgress() {
        let now = clock.now
        let isWatched = change { limits in
            limits.noteProgress(at: now)
            return limits.quietSince != nil
        }
        guard isWatched, awaitsProgress.load(ordering: .relaxed) else { return }
        if awaitsProgress.exchange(false, ordering: .acquiring) { onProgress() }
    }

    /// Reports that pictures begin to be skipped because decoding does not keep up, or that skipping has ended.
    package func noteLag(_ isLagging: Bool) { onLag(isLagging) }

    /// Reports that a decoder failed, and which one continues.
    package func noteDecoderFailure(of name: String, _ error: InletError, next: String) {
        onDecoderFailure(name, error, next)
    }

    /// Passes a frame on from a thread other than the source's, so that the source's thread need not wake. Meant for
    /// pictures that arrive on a thread of a library or of the application.
    ///
    /// Call it only while the source's own thread waits in ``FrameSource/next(_:)`` and yields nothing until this has
    /// returned, for one frame at a time. It never waits for a sink and never runs a sink's code. A source that wraps
    /// another source and changes its frames gives that source a separate context, which by default accepts no frames
    /// in this way.
    ///
    /// - Returns: false if the source must yield the frame from ``FrameSource/next(_:)`` because the bridge needs the
    ///   source's thread: for the first frame, before a pause, at the end, while a sink is lossless, and for a source
    ///   that is not live.
    public func handOver(_ frame: SourceFrame) -> Bool {
        guard !isCancelled, onHandOver(frame) else { return false }
        // The source's thread waits for the next frame from now on.
        let now = clock.now
        change { if $0.quietSince != nil { $0.resume(at: now) } }
        return true
    }

    /// Reports that the source has detected something in its picture, or that a detection has ended.
    ///
    /// Only changes are reported: a detection ends before it begins again. Safe from any thread.
    public func noteDetection(_ detection: SourceDetection) { onDetection(detection) }

    /// Reports that the source continues over another transport, and why, as sentences without secrets.
    package func noteTransportChange(_ reason: String) { onTransportChange(reason) }

    /// Reports what became of a new version of the source's code.
    package func noteUpdate(_ update: SourceUpdate) { onUpdate(update) }

    /// Counts frames that were lost or not worth delivering, except those that a gap in ``SourceFrame/sequence`` shows.
    public func countDrop(_ reason: DropReason, _ count: UInt64 = 1) {
        guard count > 0 else { return }
        drops.withLock { $0[reason, default: 0] &+= count }
    }

    /// The losses counted so far.
    public var dropCounts: [DropReason: UInt64] { drops.withLock { $0 } }

    /// Reports the reception by RTP so far, over all connections of this source.
    public func reportReception(_ figures: ReceptionFigures) { received.withLock { $0 = figures } }

    /// The latest report of reception by RTP; nil if the source receives nothing in this way.
    public var reception: ReceptionFigures? { received.withLock { $0 } }

    /// The combined demand of all sinks. It may change at any time; read it when ``demandVersion`` has changed.
    public var demand: SourceDemand { wanted.withLock { $0 } }

    /// A number that grows whenever ``demand`` changes: cheap enough to check before every frame.
    public var demandVersion: Int { wantedVersion.load(ordering: .acquiring) }

    /// Sets the demand. Called by the bridge, from any thread, when the sinks or their wants have changed.
    public func setDemand(_ demand: SourceDemand) {
        let changed = wanted.withLock { wanted in
            defer { wanted = demand }
            return wanted != demand
        }
        guard changed else { return }
        wantedVersion.add(1, ordering: .releasing)
        let now = clock.now
        change { $0.follow(demand.maximumFrameRate, at: now) }
    }

    /// The number of key frames that sinks, or a decoder after a loss, have requested of the source so far.
    ///
    /// A source of packets whose device or server can make key frames reads this before each packet, or at least twice
    /// a second while none comes, and requests one whenever the number has grown. It grows at most once a second, and
    /// by one. Cheap enough for every packet. Call it on the source's thread.
    public var keyFrameRequests: Int {
        if awaitsKeyFrame.load(ordering: .acquiring) {
            let now = clock.now
            keyFrames.withLock { requests in
                requests.take(at: now)
                awaitsKeyFrame.store(requests.isPending, ordering: .relaxed)
                keyFrameCount.store(requests.count, ordering: .relaxed)
            }
        }
        return keyFrameCount.load(ordering: .relaxed)
    }

    /// Requests a key frame of the source. Called by the bridge, from any thread, each time a key frame is needed. The
    /// source gets at most one request a second, and none if a key frame comes first.
    public func requestKeyFrame() {
        keyFrames.withLock { requests in
            requests.request()
            awaitsKeyFrame.store(true, ordering: .releasing)
        }
    }

    /// Records that the source has yielded a key frame, which serves the requests that have not been passed to it yet.
    package func noteKeyFrame() {
        guard awaitsKeyFrame.load(ordering: .acquiring) else { return }
        keyFrames.withLock { requests in
            requests.noteKeyFrame()
            awaitsKeyFrame.store(false, ordering: .relaxed)
        }
    }

    /// Sets the number of requests, which another context has counted. Use it instead of ``requestKeyFrame()``.
    package func setKeyFrameRequests(_ count: Int) { keyFrameCount.store(count, ordering: .relaxed) }

    /// The reason why the source has lost its device for a while, or nil while it has it.
    public var interruption: String? { interrupted.load(ordering: .acquiring) ? interruptionText.withLock { $0 } : nil }

    /// Reports that the device is unavailable for a while and the source waits for it: another program took the camera,
    /// the lid is shut, the machine is too hot. The source continues to wait in ``FrameSource/next(_:)``, for which the
    /// bridge then gives it more time.
    ///
    /// - Parameter reason: a few words for a person.
    public func beginInterruption(_ reason: String) {
        interruptionText.withLock { $0 = reason }
        interruptedSince.store(clock.now.nanoseconds, ordering: .relaxed)
        interrupted.store(true, ordering: .releasing)
        change { $0.suspend() }
        onInterruption(reason)
    }

    /// Whether an item was received before the current interruption began. Such pictures still arrive if one thread
    /// reads a stream and another decodes it.
    package func isFromBeforeInterruption(_ item: SourceItem) -> Bool {
        guard interrupted.load(ordering: .acquiring) else { return false }
        let received =
            switch item {
            case .frame(let frame): frame.receiveTime
            case .packet(let packet): packet.receiveTime
            }
        return received.map { $0.nanoseconds < interruptedSince.load(ordering: .relaxed) } ?? false
    }

    /// Reports that the device is back. The next frame that was received after the interruption began implies this,
    /// too. The current operation gets its whole time again.
    public func endInterruption() {
        guard interrupted.exchange(false, ordering: .acquiringAndReleasing) else { return }
        let now = clock.now
        change { $0.resume(at: now) }
        onInterruption(nil)
    }

    /// Cancels the source. Called by the bridge, from any thread. The bridge makes ``wakeUpDescriptor`` readable
    /// itself.
    public func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Sets the deadline. Called by the bridge before each operation.
    ///
    /// - Parameter allowance: how long the operation may take from now on.
    public func setDeadline(after allowance: Duration) {
        begin(OperationLimits.Allowance(silence: allowance, total: allowance))
    }

    /// Sets the deadline for a frame. Called by the bridge before it requests one from the source. During an
    /// interruption that began earlier, no deadline applies until the interruption ends.
    ///
    /// - Parameters:
    ///   - silence: how long the source may take without any progress.
    ///   - total: how long it may take in total.
    ///   - followsDemand: whether it gets more total time if the sinks want frames less often.
    package func setFrameDeadline(silence: Duration, total: Duration, followsDemand: Bool) {
        let now = clock.now
        let isInterrupted = interrupted.load(ordering: .acquiring)
        change {
            $0.begin(OperationLimits.Allowance(silence: silence, total: total, followsDemand: followsDemand), at: now)
            if isInterrupted { $0.suspend() }
        }
    }

    /// Clears the deadline. Called by the bridge after each operation: the source runs none now.
    public func clearDeadline() { change { $0.end() } }

    /// The current operation of the source; nil while it runs none that has a limit.
    package var operation: SourceOperation? { limits.withLock { $0.operation } }

    /// Requests that the bridge be notified of the next progress.
    package func awaitProgress() { awaitsProgress.store(true, ordering: .releasing) }

    private func begin(_ allowance: OperationLimits.Allowance) {
        let now = clock.now
        change { $0.begin(allowance, at: now) }
    }

    private func change<Value: Sendable>(_ body: (inout OperationLimits) -> Value) -> Value {
        limits.withLock { limits in
            let value = body(&limits)
            // Values that the bridge wrote before an operation are visible to every thread that sees its deadline.
            deadlineNanoseconds.store(limits.deadline.nanoseconds, ordering: .releasing)
            return value
        }
    }
}
