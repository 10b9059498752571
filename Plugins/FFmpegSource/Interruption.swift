import CFFmpeg
import InletCore
import InletFFmpeg
import Synchronization

/// What libavformat's interrupt callback looks at: a cancellation, the bridge's deadline, the limit of the phase that
/// runs, and what else must end, such as a server that goes on without end.
///
/// Safe from any thread. An input that was made by it must not outlive it.
@safe final class Interruption: Sendable {
    private let context: SourceContext
    private let mustEnd: @Sendable () -> Bool
    private let limit = Atomic(Int64.max)
    private let expired = Atomic(false)
    private let isClosing = Atomic(false)

    /// - Parameter mustEnd: what else ends all that libavformat does, asked on any thread.
    init(_ context: SourceContext, mustEnd: @escaping @Sendable () -> Bool = { false }) {
        self.context = context
        self.mustEnd = mustEnd
    }

    /// Gives the operation that begins now so much time; nil is without a limit of its own.
    func allow(_ time: Duration?) {
        expired.store(false, ordering: .relaxed)
        limit.store(time.map { (context.clock.now + $0).nanoseconds } ?? .max, ordering: .relaxed)
    }

    /// What is said in closing, such as TEARDOWN, which gives a camera's session back, gets a moment, also after a
    /// cancellation.
    func beginClosing() {
        limit.store((context.clock.now + Self.closing).nanoseconds, ordering: .relaxed)
        isClosing.store(true, ordering: .relaxed)
    }

    private static let closing = Duration.milliseconds(50)

    /// The limit has passed, and an operation was told to give up.
    var hasExpired: Bool { expired.load(ordering: .relaxed) }

    /// How long an operation may wait, at most, before it asks again.
    var timeLeft: Duration {
        let end = min(MonotonicTime(nanoseconds: limit.load(ordering: .relaxed)), context.deadline)
        return max(.zero, end - context.clock.now)
    }

    /// Becomes readable when the source is cancelled; -1 where nothing does.
    var wakeUpDescriptor: Int32 { context.wakeUpDescriptor }

    /// Asked before each of some 80 reads a picture: looks at the clock once.
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

    /// An input that asks whether to give up. The caller owns it.
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
