import InletCore

/// The `Retry-After` header of a reply (RFC 2326, section 12.31).
enum RetryAfter {
    /// The wait if an overloaded server does not state one. Inlet's own choice: long enough not to burden the server,
    /// short against the minute after which servers end abandoned sessions.
    static let assumed = Duration.seconds(2)
    /// The longest delay that is accepted: one hour.
    private static let longest = 3600

    /// Returns the delay that a header states in seconds; nil for a date, which would need synchronized clocks.
    static func delay(_ value: [UInt8]) -> Duration? {
        let digits = TextBytes.trimmed(value).prefix(while: \.isASCIIDigit)
        guard !digits.isEmpty, digits.count == TextBytes.trimmed(value).count else { return nil }
        return .seconds(min(longest, TextBytes.number(digits) ?? longest))
    }
}
