import CFFmpeg
import InletCore
import Synchronization

/// What libavformat's interrupt callback looks at: until when the operation that runs may take.
///
/// Safe from any thread.
@safe final class OutputDeadline: Sendable {
    private let limit = Atomic(Int64.max)
    private let expired = Atomic(false)
    private let origin = ContinuousClock.now

    private var elapsed: Int64 { (ContinuousClock.now - origin).wholeNanoseconds }

    /// Gives the operation that begins now so much time.
    func allow(_ time: Duration) {
        expired.store(false, ordering: .relaxed)
        let (sum, overflow) = elapsed.addingReportingOverflow(time.wholeNanoseconds)
        limit.store(overflow ? .max : sum, ordering: .relaxed)
    }

    /// An operation was told to give up.
    var hasExpired: Bool { expired.load(ordering: .relaxed) }

    /// Whether the time is over. An operation that asks is expected to give up then.
    var isOver: Bool {
        guard elapsed >= limit.load(ordering: .relaxed) else { return false }
        expired.store(true, ordering: .relaxed)
        return true
    }

    /// How much of the time is left.
    var remaining: Duration { .nanoseconds(max(0, limit.load(ordering: .relaxed) &- elapsed)) }

    /// The callback for an output, which this object must outlive.
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
