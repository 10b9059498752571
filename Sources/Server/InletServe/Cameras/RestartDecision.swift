package import InletCapture
package import InletCore

/// Decides whether and when a camera is started again after its capture has ended. Pure.
///
/// A capture opens its source again by itself after temporary failures. This decides about failures that end a capture:
/// a device that is missing when the machine starts may appear later, but a wrong password stays wrong, and cameras
/// lock accounts.
package enum RestartDecision {
    /// The delay after the first failure.
    static let first = Duration.seconds(5)
    /// The longest delay.
    static let longest = Duration.seconds(60)

    /// Returns the delay before the next start; nil if the camera must stay closed until a user restarts it.
    ///
    /// - Parameters:
    ///   - error: the reason why the capture ended; nil if its source had no more frames.
    ///   - retry: the camera's policy.
    ///   - ends: how often in a row the capture has ended, including this time.
    package static func delay(after error: InletError?, retry: RetryPolicy, ends: Int) -> Duration? {
        guard let error, retry.limit == nil, !retry.permanentCodes.contains(error.code) else { return nil }
        var delay = first
        for _ in 1..<max(1, min(ends, 16)) where delay < longest { delay *= 2 }
        return min(delay, longest)
    }
}
