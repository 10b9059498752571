import CFFmpeg
import InletCore
import Synchronization

// Unsafe: is the context of libavformat's interrupt callback.
/// The deadline of the current operation, which libavformat's interrupt callback checks.
///
/// Safe from any thread.
@safe final class OutputDeadline: Sendable {
    private let limit = Atomic(Int64.max)
    private let expired = Atomic(false)
    private let origin = ContinuousClock.now

    private var elapsed: Int64 { (ContinuousClock.now - origin).wholeNanoseconds }

    /// Sets the time limit of the operation that begins now.
    func allow(_ time: Duration) {
        expired.store(false, ordering: .relaxed)
        let (sum, overflow) = elapsed.addingReportingOverflow(time.wholeNanoseconds)
        limit.store(overflow ? .max : sum, ordering: .relaxed)
    }

    /// Whether an operation was interrupted.
    var hasExpired: Bool { expired.load(ordering: .relaxed) }

    /// Whether the time is up, so that the calling operation must give up.
    var isOver: Bool {
        guard elapsed >= limit.load(ordering: .relaxed) else { return false }
        expired.store(true, ordering: .relaxed)
        return true
    }

    /// The time left.
    var remaining: Duration { .nanoseconds(max(0, limit.load(ordering: .relaxed) &- elapsed)) }

    /// The callback for an output. This object must outlive the output.
    var callback: AVIOInterruptCB {
        var callback = unsafe AVIOInterruptCB()
        unsafe callback.opaque = Unmanaged.passUnretained(self).toOpaque()
        unsafe callback.callback = { opaque in
            guard let opaque = unsafe opaque else { return 0 }
            return unsafe Unmanaged<OutputDeadline>.fromOpaque(opaque).takeUnretainedValue().isOver ? 1 : 0
        }
        return unsafe callback
    }
}
