import InletCore
import InletSystem

/// How long a call into a plug-in may take, and whether it was cancelled.
struct CallLimit {
    private let context: SourceContext?
    private let end: MonotonicTime
    /// The time by which the child must answer.
    private(set) var dueTime: MonotonicTime

    /// A limit by the deadline of a source's current operation, which may move while it runs.
    ///
    /// - Parameter slice: the time after which the child must answer, if that is earlier than the deadline.
    init(of context: SourceContext, slice: Duration? = nil) {
        self.context = context
        end = .distantFuture
        let left = Self.timeLeft(of: context)
        dueTime =
            left.map { .now + (slice.map { min($0, left ?? $0) } ?? $0) } ?? slice.map { .now + $0 }
            ?? .distantFuture
    }

    /// A limit by a time of the system's clock.
    init(until end: MonotonicTime) {
        context = nil
        self.end = end
        dueTime = end
    }

    /// The time until the deadline; nil without a deadline. The context's clock may be a manual one.
    private static func timeLeft(of context: SourceContext) -> Duration? {
        let deadline = context.deadline
        return deadline == .distantFuture ? nil : deadline - context.clock.now
    }

    /// The time by which the child must answer, in the form of the protocol.
    var due: Int64 { dueTime.nanoseconds }

    /// Whether the operation was cancelled.
    var isCancelled: Bool { context?.isCancelled ?? false }

    /// The descriptor that becomes readable when the operation is cancelled; -1 without one.
    var wakeUpDescriptor: Int32 { context?.wakeUpDescriptor ?? -1 }

    /// How long the child may still take; not greater than zero if its time is over.
    var remaining: Duration {
        guard let context else { return end - .now }
        var left = Self.timeLeft(of: context) ?? .seconds(86_400)
        // While the device is away the bridge has no limit. A plug-in still has to answer.
        if dueTime != .distantFuture, context.interruption != nil {
            left = min(left, dueTime + Self.interruptionGrace - .now)
        }
        // A manual clock moves by itself, and may have no descriptor for a cancellation.
        return context.wakeUpDescriptor < 0 && left > .zero ? min(left, .milliseconds(10)) : left
    }

    /// How long after its time a plug-in whose device is away may answer.
    private static let interruptionGrace = Duration.seconds(10)
}
