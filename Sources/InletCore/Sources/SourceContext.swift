public import Logging
import Synchronization

/// What the bridge gives a source to work with: the time, a way to sleep, word of a cancellation, a log, and a place to
/// count losses.
///
/// Safe from any thread: a library's callback may read it while the capture thread is inside the library.
public final class SourceContext: Sendable {
    /// Where a source says what people may want to know.
    public let logger: Logger
    /// The time on which the capture timeline runs.
    public let clock: any CaptureClock
    /// Becomes readable when the source is cancelled, and stays so: poll it along with the device. It belongs to the
    /// bridge; do not read or close it. -1 where the clock is not the system's.
    public let wakeUpDescriptor: Int32

    private let cancelled = Atomic(false)
    private let limits = Mutex(OperationLimits())
    /// What the limits amount to, for whoever looks often.
    private let deadlineNanoseconds = Atomic(Int64.max)
    private let awaitsProgress = Atomic(false)
    private let drops = Mutex([DropReason: UInt64]())
    private let wanted = Mutex(SourceDemand.everything)
    private let wantedVersion = Atomic(0)
    private let interruptionText = Mutex(String?.none)
    private let interrupted = Atomic(false)
    private let onInterruption: @Sendable (String?) -> Void
    private let onProgress: @Sendable () -> Void
    private let onLag: @Sendable (Bool) -> Void
    private let onDecoderFailure: @Sendable (String, InletError, String) -> Void

    /// Made by the bridge and by tests.
    ///
    /// - Parameters:
    ///   - clock: the time on which the capture timeline runs.
    ///   - wakeUpDescriptor: becomes readable when the source is cancelled. The default, -1, is none.
    ///   - logger: where the source says what people may want to know.
    ///   - onInterruption: called, on the source's thread, with the reason when an interruption begins and with nil
    ///     when it ends.
    ///   - onProgress: called, on the thread that reports it, at the first progress after the bridge has asked to be
    ///     told.
    ///   - onLag: called, on the thread that decodes, with true where pictures begin to be left out because decoding
    ///     does not keep up, and with false when that is over.
    ///   - onDecoderFailure: called, on the thread that decodes, with the name of a decoder that failed, its error, and
    ///     the name of the next.
    public init(
        clock: any CaptureClock, wakeUpDescriptor: Int32 = -1, logger: Logger,
        onInterruption: @escaping @Sendable (String?) -> Void = { _ in },
        onProgress: @escaping @Sendable () -> Void = {}, onLag: @escaping @Sendable (Bool) -> Void = { _ in },
        onDecoderFailure: @escaping @Sendable (String, InletError, String) -> Void = { _, _, _ in }
    ) {
        self.onDecoderFailure = onDecoderFailure
        self.onLag = onLag
        self.onInterruption = onInterruption
        self.onProgress = onProgress
        self.clock = clock
        self.wakeUpDescriptor = wakeUpDescriptor
        self.logger = logger
    }

    /// Whether the source should stop what it does and throw ``InletError/Code/cancelled``.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// When the operation that runs now should have ended; ``MonotonicTime/distantFuture`` where there is no deadline.
    public var deadline: MonotonicTime {
        MonotonicTime(nanoseconds: deadlineNanoseconds.load(ordering: .acquiring))
    }

    /// Whether the operation should give up: it was cancelled, or its deadline passed.
    public var shouldGiveUp: Bool { isCancelled || clock.now >= deadline }

    /// - Throws: ``InletError/Code/cancelled`` where the source was cancelled, ``InletError/Code/timedOut`` where the
    ///   deadline of the operation passed.
    public func checkCancellation() throws(InletError) {
        if isCancelled { throw InletError(.cancelled, "The source was stopped.") }
        if clock.now >= deadline { throw InletError(.timedOut, "The source took too long.") }
    }

    /// Blocks until `time`, for sources that pace themselves. A sleep of up to ``longestPlannedSleep`` puts the
    /// deadline off by as much: it is no sign that the source hangs.
    ///
    /// - Throws: as ``checkCancellation()``, as soon as that is the case.
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

    /// A longer sleep counts as waiting for something: one hour.
    public static let longestPlannedSleep = Duration.seconds(3600)

    /// Says that data has come from the device or the server, whether or not a frame comes of it: a source that
    /// receives packets and keeps them back is alive. Cheap enough for every packet.
    ///
    /// The bridge takes a frame for progress by itself. A source that reports progress gets three times as long for its
    /// next frame, and longer where sinks want few (``SourceDemand/maximumFrameRate``).
    public func reportProgress() {
        let now = clock.now
        let isWatched = change { limits in
            limits.noteProgress(at: now)
            return limits.quietSince != nil
        }
        guard isWatched, awaitsProgress.load(ordering: .relaxed) else { return }
        if awaitsProgress.exchange(false, ordering: .acquiring) { onProgress() }
    }

    /// Says that pictures begin to be left out because decoding does not keep up, or that this is over.
    package func noteLag(_ isLagging: Bool) { onLag(isLagging) }

    /// Says that a decoder failed, and which one goes on.
    package func noteDecoderFailure(of name: String, _ error: InletError, next: String) {
        onDecoderFailure(name, error, next)
    }

    /// Counts frames that were lost or not worth delivering, other than those that a gap in ``SourceFrame/sequence``
    /// shows.
    public func countDrop(_ reason: DropReason, _ count: UInt64 = 1) {
        guard count > 0 else { return }
        drops.withLock { $0[reason, default: 0] &+= count }
    }

    /// The losses counted so far.
    public var dropCounts: [DropReason: UInt64] { drops.withLock { $0 } }

    /// What all sinks together want now. It may change at any time; look when ``demandVersion`` has changed.
    public var demand: SourceDemand { wanted.withLock { $0 } }

    /// A number that grows whenever ``demand`` changes: cheap enough to look at before every frame.
    public var demandVersion: Int { wantedVersion.load(ordering: .acquiring) }

    /// Called by the bridge, from any thread, when the sinks or their wants have changed.
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

    /// Why the source has lost its device for a while, or nil while it has it.
    public var interruption: String? { interrupted.load(ordering: .acquiring) ? interruptionText.withLock { $0 } : nil }

    /// Says that the device is away for a while and the source waits for it: another program took the camera, the lid
    /// is shut, the machine is too hot. The source goes on waiting in ``FrameSource/next(_:)``, for which the bridge
    /// then gives it more time.
    ///
    /// - Parameter reason: a few words for a person.
    public func beginInterruption(_ reason: String) {
        interruptionText.withLock { $0 = reason }
        interrupted.store(true, ordering: .releasing)
        change { $0.suspend() }
        onInterruption(reason)
    }

    /// Says that the device is back. The next frame says so, too. The operation that runs gets its whole time anew.
    public func endInterruption() {
        guard interrupted.exchange(false, ordering: .acquiringAndReleasing) else { return }
        let now = clock.now
        change { $0.resume(at: now) }
        onInterruption(nil)
    }

    /// Called by the bridge, from any thread. The bridge makes ``wakeUpDescriptor`` readable itself.
    public func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Called by the bridge before each operation.
    ///
    /// - Parameter allowance: how long the operation may take from now on.
    public func setDeadline(after allowance: Duration) {
        begin(OperationLimits.Allowance(silence: allowance, total: allowance))
    }

    /// Called by the bridge before it has the source yield a frame.
    ///
    /// - Parameters:
    ///   - silence: how long the source may take without any progress.
    ///   - total: how long it may take in all.
    ///   - followsDemand: whether it gets more time in all where the sinks want frames less often.
    package func setFrameDeadline(silence: Duration, total: Duration, followsDemand: Bool) {
        begin(OperationLimits.Allowance(silence: silence, total: total, followsDemand: followsDemand))
    }

    /// Called by the bridge after each operation: the source runs none now.
    public func clearDeadline() { change { $0.end() } }

    /// The operation that the source runs; nil while it runs none that has a limit.
    package var operation: SourceOperation? { limits.withLock { $0.operation } }

    /// Has the bridge told of the next progress.
    package func awaitProgress() { awaitsProgress.store(true, ordering: .releasing) }

    private func begin(_ allowance: OperationLimits.Allowance) {
        let now = clock.now
        change { $0.begin(allowance, at: now) }
    }

    private func change<Value: Sendable>(_ body: (inout OperationLimits) -> Value) -> Value {
        limits.withLock { limits in
            let value = body(&limits)
            // What the bridge noted before an operation is seen by whoever sees its deadline.
            deadlineNanoseconds.store(limits.deadline.nanoseconds, ordering: .releasing)
            return value
        }
    }
}
