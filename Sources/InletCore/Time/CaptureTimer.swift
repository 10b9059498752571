/// Calls its handler on its queue at the time that it was set for. A ``CaptureClock`` makes it, without a time.
///
/// It is the caller's to keep: a timer that nobody refers to any more is cancelled. Safe from any thread.
public protocol CaptureTimer: Sendable {
    /// Sets the time, in place of the one that was set before. The handler is called once, as soon as possible where
    /// the time has passed. Called on the timer's queue, it keeps back a handler that was due for the earlier time and
    /// has not begun. Does nothing after ``cancel()``.
    ///
    /// - Parameters:
    ///   - time: when to call the handler; ``MonotonicTime/distantFuture`` leaves the timer without a time.
    ///   - leeway: how much later the handler may be called, so that the system can join wake-ups.
    func set(for time: MonotonicTime, leeway: Duration)

    /// Ends the timer for good. Called on the timer's queue, no handler begins afterwards; called elsewhere, one that
    /// was due may still begin. A second call does nothing.
    func cancel()
}

extension CaptureTimer {
    /// Sets the time, without a leeway; as ``set(for:leeway:)``.
    public func set(for time: MonotonicTime) { set(for: time, leeway: .zero) }
}
