package import InletCapture
package import InletCore

/// Decides whether and when a camera whose capture has ended is started again. Pure.
///
/// A capture itself opens its source again after failures that may pass. What ends it is left to this: a device that is
/// not there at the start of the machine comes later, but a wrong password stays wrong, and cameras lock accounts.
package enum RestartDecision {
    /// The delay after the first end.
    static let first = Duration.seconds(5)
    /// The longest delay.
    static let longest = Duration.seconds(60)

    /// Returns the delay before the next start; nil if the camera stays as it ended, until somebody restarts it.
    ///
    /// - Parameters:
    ///   - error: why the capture ended; nil if its source had no more frames.
    ///   - retry: the camera's policy.
    ///   - ends: how often in a row it has ended, this time included.
    package static func delay(after error: InletError?, retry: RetryPolicy, ends: Int) -> Duration? {
        guard let error, retry.limit == nil, !retry.permanentCodes.contains(error.code) else { return nil }
        var delay = first
        for _ in 1..<max(1, min(ends, 16)) where delay < longest { delay *= 2 }
        return min(delay, longest)
    }
}
