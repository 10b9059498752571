/// Where the bridge gets the time and how it waits: the machine's clock, or a manual one in tests.
public protocol CaptureClock: Sendable {
    /// The time now. Safe from any thread; never goes back.
    var now: MonotonicTime { get }

    /// Blocks the calling thread until `deadline`, or until `wakeUpDescriptor` becomes readable.
    ///
    /// - Returns: true where the deadline passed, false where the wait was woken first.
    func wait(until deadline: MonotonicTime, wakeUpDescriptor: Int32) -> Bool
}
