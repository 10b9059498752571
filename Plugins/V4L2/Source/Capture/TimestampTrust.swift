import InletCore

/// Whether a driver's time of a picture can be trusted.
///
/// Drivers take the time from CLOCK_MONOTONIC when the exposure starts or the transfer ends. Some get it wrong: they
/// use another clock, zero, or a device's counter that wraps. An untrusted time is omitted, so that the capture clock
/// uses the time of arrival and reports this.
struct TimestampTrust {
    enum Doubt: String, Sendable, Hashable, CaseIterable {
        case none
        /// The time is zero, or from an application's clock.
        case absent = "the driver gives no time"
        case future = "the driver's time is in the future"
        case backwards = "the driver's time goes backwards"
        case unrelated = "the driver's time is unrelated to the monotonic clock"
    }

    /// Drivers that compute the time from a frame's number (vivid) or from a device's clock (uvcvideo) are ahead by
    /// some milliseconds; more is wrong.
    static let tolerance = Duration.milliseconds(50)
    /// The largest plausible age. A buffer that waited longer while the process was stopped counts as having a wrong
    /// time.
    static let longestAge = Duration.seconds(60)

    /// The last trusted time.
    private var last: MonotonicTime?

    /// - Parameters:
    ///   - time: the driver's time.
    ///   - isCopied: whether the driver reports that it copied the time from elsewhere (V4L2_BUF_FLAG_TIMESTAMP_COPY).
    ///   - now: the time on the monotonic clock after the buffer was taken.
    mutating func judge(_ time: MonotonicTime, isCopied: Bool = false, now: MonotonicTime) -> Doubt {
        if isCopied || time.nanoseconds == 0 { return .absent }
        if time - now > Self.longestAge || now - time > Self.longestAge { return .unrelated }
        if time - now > Self.tolerance { return .future }
        if let last, time <= last { return .backwards }
        last = time
        return .none
    }
}
