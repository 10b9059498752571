public import Dispatch

/// The bridge's clock and its way to wait: the machine's clock, or a manual one in tests.
public protocol CaptureClock: Sendable {
    /// The current time. Safe from any thread; never goes back.
    var now: MonotonicTime { get }

    /// Blocks the calling thread until `deadline`, or until `wakeUpDescriptor` becomes readable.
    ///
    /// - Returns: true if the deadline passed, false if the wait was woken first.
    func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool

    /// Makes a timer that is not set yet. Safe from any thread.
    ///
    /// - Parameters:
    ///   - queue: where the handler runs. It must be serial for what ``CaptureTimer`` promises of calls on this queue.
    ///   - handler: called once for each time that the timer was set for. The timer keeps it for its whole life, so a
    ///     handler that refers to the timer's owner does so weakly.
    func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer
}
