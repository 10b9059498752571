import CFFmpeg
import InletCore
import InletFFmpeg
import Synchronization

// Unsafe: is the context of libavformat's interrupt callback.
/// The state that libavformat's interrupt callback checks: a cancellation, the bridge's deadline, the limit of the
/// current phase, and other reasons to stop, such as a server that sends endlessly.
///
/// Safe from any thread. It must outlive the inputs that it made.
@safe final class Interruption: Sendable {
    private let context: SourceContext
    private let mustEnd: @Sendable () -> Bool
    private let limit = Atomic(Int64.max)
    /// The length of the current limit in nanoseconds; `Int64.max` without a limit.
    private let allowance = Atomic(Int64.max)
    private let expired = Atomic(false)
    private let isClosing = Atomic(false)

    /// - Parameter mustEnd: returns whether another reason ends all of libavformat's work. Called on any thread.
    init(_ context: SourceContext, mustEnd: @escaping @Sendable () -> Bool = { false }) {
        self.context = context
        self.mustEnd = mustEnd
    }

    /// Sets the time limit of the operation that begins now; nil is no limit.
    func allow(_ time: Duration?) {
        expired.store(false, ordering: .relaxed)
        allowance.store(time?.wholeNanoseconds ?? .max, ordering: .relaxed)
        limit.store(time.map { (context.clock.now + $0).nanoseconds } ?? .max, ordering: .relaxed)
    }

    /// Restarts the current limit and reports progress: the server has answered, though with nothing new.
    func noteAnswer() {
        let length = allowance.load(ordering: .relaxed)
        if length != .max {
            limit.store(context.clock.now.nanoseconds.adding(saturating: length), ordering: .relaxed)
        }
        context.reportProgress()
    }

    /// The time of the capture clock.
    var now: MonotonicTime { context.clock.now }

    /// Waits on purpose until a time. This uses up neither the current limit nor the bridge's deadline.
    ///
    /// - Returns: false if the wait must be given up.
    func sleep(until time: MonotonicTime) -> Bool {
        let length = max(0, (time - context.clock.now).wholeNanoseconds)
        limit.store(limit.load(ordering: .relaxed).adding(saturating: length), ordering: .relaxed)
        do throws(InletError) {
            try context.sleep(until: time)
        } catch { return false }
        return !shouldGiveUp
    }

    /// Starts a grace period, even after a cancellation, for closing messages such as TEARDOWN, which frees a camera's
    /// session.
    func beginClosing() {
        limit.store((context.clock.now + Self.closing).nanoseconds, ordering: .relaxed)
        isClosing.store(true, ordering: .relaxed)
    }

    private static let closing = Duration.milliseconds(50)

    /// Whether the limit has passed and an operation was interrupted.
    var hasExpired: Bool { expired.load(ordering: .relaxed) }

    /// The longest time that an operation may wait before it checks again.
    var timeLeft: Duration {
        let end = min(MonotonicTime(nanoseconds: limit.load(ordering: .relaxed)), context.deadline)
        return max(.zero, end - context.clock.now)
    }

    /// A descriptor that becomes readable when the source is cancelled; -1 if there is no such descriptor.
    var wakeUpDescriptor: Int32 { context.wakeUpDescriptor }

    /// Whether to give up. Called before each of some 80 reads per picture, so it reads the clock only once.
    var shouldGiveUp: Bool {
        let now = context.clock.now
        if !isClosing.load(ordering: .relaxed),
            context.isCancelled || now >= context.deadline || mustEnd()
        {
            return true
        }
        guard now.nanoseconds >= limit.load(ordering: .relaxed) else { return false }
        expired.store(true, ordering: .relaxed)
        return true
    }

    /// Returns an input that checks this interruption. The caller owns it.
    @unsafe func makeInput() throws(InletError) -> UnsafeMutablePointer<AVFormatContext> {
        guard let input = unsafe avformat_alloc_context() else {
            throw InletError(ffmpeg: -ENOMEM, operation: "avformat_alloc_context")
        }
        unsafe input.pointee.interrupt_callback.opaque = Unmanaged.passUnretained(self).toOpaque()
        unsafe input.pointee.interrupt_callback.callback = { opaque in
            guard let opaque = unsafe opaque else { return 0 }
            return unsafe Unmanaged<Interruption>.fromOpaque(opaque).takeUnretainedValue().shouldGiveUp ? 1 : 0
        }
        return unsafe input
    }
}
