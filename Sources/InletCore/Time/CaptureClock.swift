public import Dispatch

/// Where the bridge gets the time and how it waits: the machine's clock, or a manual one in tests.
public protocol CaptureClock: Sendable {
    /// The time now. Safe from any thread; never goes back.
    var now: MonotonicTime { get }

    /// Blocks the calling thread until `deadline`, or until `wakeUpDescriptor` becomes readable.
    ///
    /// - Returns: true where the deadline passed, false where the wait was woken first.
    func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool

    /// Makes a timer that is not set yet. Safe from any thread.
    ///
    /// - Parameters:
    ///   - queue: where the handler runs. What ``CaptureTimer`` promises of calls on this queue holds for a serial one.
    ///   - handler: called once for each time that the timer was set for. The timer keeps it for as long as it lives,
    ///     so a handler that refers to the timer's owner does so weakly.
    func makeTimer(on queue: DispatchQueue, handler: @escaping @Sendable () -> Void) -> any CaptureTimer
}
