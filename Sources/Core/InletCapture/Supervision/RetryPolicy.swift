public import InletCore

/// Decides whether, when and how often a source that failed is reopened.
///
/// The delay doubles from one failure to the next up to a cap, and each time a random part of it is taken (full
/// jitter), so that a hundred cameras behind one switch do not reconnect in step. It starts over only after the source
/// was healthy for a while: one that fails right after each opening stays at the cap.
public struct RetryPolicy: Sendable, Hashable {
    /// The longest delay after the first failure. The default is half a second.
    public var firstDelay = Duration.milliseconds(500)
    /// The upper limit of all delays, including those that a server requests. The default is 10 seconds.
    public var maximumDelay = Duration.seconds(10)
    /// The factor by which the longest delay grows from one failure to the next. The default is 2.
    public var multiplier = 2.0
    /// Whether delays are drawn evenly from 0 to the longest, or are the longest. The default is true.
    public var hasFullJitter = true
    /// The number of consecutive attempts that may fail before the run fails. The default, nil, means no limit; 0 never
    /// retries.
    public var limit: Int?
    /// The time for which frames must have arrived before the count of failures starts over. The default is 10 seconds.
    public var healthyAfter = Duration.seconds(10)
    /// The errors after which another attempt would fail as well. The default is ``defaultPermanentCodes``.
    ///
    /// ``InletError/Code/authenticationFailed`` is permanent until the source has yielded frames. Then the credentials
    /// were right, and a camera that starts may refuse right ones for a while: the source is opened again after
    /// ``refusedDelay``, if that is not nil.
    public var permanentCodes = RetryPolicy.defaultPermanentCodes
    /// The delay after the first refusal of credentials that have worked before; nil if the refusal ends the run. Each
    /// further refusal makes it four times as long.
    ///
    /// The default is 30 seconds: with ``maximumRefusedDelay``, the first half hour has four attempts, where cameras
    /// lock an account after five or more.
    public var refusedDelay: Duration? = .seconds(30)
    /// The upper limit of the delays after refusals. The default is 30 minutes.
    public var maximumRefusedDelay = Duration.seconds(1800)
    /// Whether the errors of ``permanentUntilLive`` are worth another attempt at the first opening, too. The default is
    /// false: a mistyped path is reported at once.
    public var retriesFirstOpening = false

    /// Retries without limit, with the defaults of every property.
    public init() {}

    /// A policy that never retries: the first failure ends the run.
    public static var never: RetryPolicy { attempts(0) }

    /// Returns a policy that retries at most `count` times in a row.
    public static func attempts(_ count: Int) -> RetryPolicy {
        var policy = RetryPolicy()
        policy.limit = max(0, count)
        return policy
    }

    /// The errors that retrying cannot resolve. Above all a password that has never worked: cameras lock an account
    /// after a few attempts.
    public static let defaultPermanentCodes: Set<InletError.Code> = [
        .invalidConfiguration, .authenticationFailed, .declined, .addressRefused, .pluginRejected, .cancelled,
        .internal,
    ]

    /// Whether retrying cannot resolve a sink's failure. Errors inside a library often do not occur again.
    static func isPermanent(_ error: InletError) -> Bool {
        error.code != .internal && defaultPermanentCodes.contains(error.code)
    }

    /// The errors that are permanent at the first opening, but pass for a source that has worked before: a camera that
    /// is plugged in again is not found for a moment, and then not readable until its permissions are set; a restarting
    /// server may have nothing, or something other than a stream, at the path for a while.
    public static let permanentUntilLive: Set<InletError.Code> = [
        .notFound, .permissionDenied, .unsupported, .malformedData, .tlsFailed,
    ]

    /// Whether an error is worth another attempt.
    ///
    /// - Parameters:
    ///   - failures: how many attempts in a row have failed, this one included.
    ///   - wasLive: whether this source has yielded frames before.
    public func retries(after error: InletError, failures: Int, wasLive: Bool) -> Bool {
        if let limit, failures > limit { return false }
        if permanentCodes.contains(error.code) { return wasLive && isRefusal(error) }
        return wasLive || retriesFirstOpening || !Self.permanentUntilLive.contains(error.code)
    }

    /// Whether an error is a refusal of credentials after which ``refusedDelay`` counts, if frames have come with them.
    func isRefusal(_ error: InletError) -> Bool {
        error.code == .authenticationFailed && permanentCodes.contains(error.code) && refusedDelay != nil
    }

    /// The delay before the next attempt after credentials were refused that have worked before.
    ///
    /// - Parameter refusals: how often in a row they have been refused, at least 1.
    public func delay(afterRefusals refusals: Int) -> Duration {
        let most = max(0, maximumRefusedDelay.wholeNanoseconds)
        var delay = min(most, max(0, (refusedDelay ?? .zero).wholeNanoseconds))
        for _ in 1..<max(1, min(refusals, 32)) { delay = delay > most / 4 ? most : delay * 4 }
        return .nanoseconds(delay)
    }

    /// The delay before the next attempt after a failure: if the other side requests a wait
    /// (``InletError/retryAfter``), that time precedes the delay, both together up to ``maximumDelay``.
    ///
    /// - Parameters:
    ///   - error: why the last attempt failed.
    ///   - failures: how many attempts in a row have failed, at least 1.
    ///   - generator: where the jitter comes from.
    public func delay(
        after error: InletError, failures: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let delay = delay(afterFailures: failures, using: &generator)
        guard let least = error.retryAfter, least > .zero else { return delay }
        // Neither overflows: both are at most half of the range.
        let most = max(.zero, maximumDelay)
        return min(most, min(most, least) + delay)
    }

    /// The delay before the next attempt.
    ///
    /// - Parameters:
    ///   - failures: how many attempts in a row have failed, at least 1.
    ///   - generator: where the jitter comes from.
    public func delay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let first = Double(max(0, firstDelay.wholeNanoseconds))
        // Half of the range of 64 bits: the whole of it, as a Double, is one more than the maximum.
        let most = Double(max(0, min(maximumDelay.wholeNanoseconds, .max / 2)))
        var longest = first
        // Not pow: a hundred thousand failures must not become infinity times zero.
        for _ in 1..<max(2, min(failures, 64)) where failures > 1 { longest = min(most, longest * max(1, multiplier)) }
        longest = min(most, longest)
        guard hasFullJitter, longest > 0 else { return .nanoseconds(Int64(longest)) }
        return .nanoseconds(Int64(Double.random(in: 0...longest, using: &generator)))
    }
}
