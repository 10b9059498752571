/// Calls its handler on its queue at the time set. A ``CaptureClock`` makes it, without a time.
///
/// The caller must keep it: a timer to which nothing refers any more is cancelled. Safe from any thread.
public protocol CaptureTimer: Sendable {
    /// Sets the time, replacing the previous one. The handler is called once, as soon as possible if the time has
    /// passed. If called on the timer's queue, it prevents a handler that was due for the earlier time and has not
    /// begun. Does nothing after ``cancel()``.
    ///
    /// - Parameters:
    ///   - time: when to call the handler; ``MonotonicTime/distantFuture`` leaves the timer without a time.
    ///   - leeway: how much later the handler may be called, so that the system can join wake-ups.
    func set(for time: MonotonicTime, leeway: Duration)

    /// Ends the timer permanently. If called on the timer's queue, no handler begins afterwards; if called elsewhere,
    /// one that was due may still begin. A second call does nothing.
    func cancel()
}

extension CaptureTimer {
    /// Sets the time, without a leeway; as ``set(for:leeway:)``.
    public func set(for time: MonotonicTime) { set(for: time, leeway: .zero) }
}
