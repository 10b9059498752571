/// Measures how long a peer has been silent although it should have answered.
///
/// libsrt has an option for this, SRTO_PEERIDLETIMEO, but also waits for sixteen internal timers: it never gives up a
/// peer before five seconds, whatever is configured (`CUDT::checkExpTimer`).
struct SRTSilence {
    /// libsrt's counters for a connection.
    struct Figures {
        /// The number of received acknowledgements and loss reports.
        var answers: Int64
        /// The number of packets kept until they are acknowledged.
        var waiting: Int64
        /// The number of packets that were dropped as too late.
        var dropped: Int64
    }

    private var last = Figures(answers: 0, waiting: 0, dropped: 0)
    /// The time since which sent data has been unanswered.
    private var start: Duration?
    private var lastLook: Duration?

    /// The interval between checks: reading the counters takes a lock of libsrt, and a stream may have thousands of
    /// packets per second.
    private static let spacing = Duration.milliseconds(5)

    /// Returns whether the next check is due.
    mutating func isDue(at now: Duration) -> Bool {
        if let lastLook, now - lastLook < Self.spacing { return false }
        lastLook = now
        return true
    }

    /// Records the counters and returns how long the peer has been silent.
    mutating func note(_ figures: Figures, at now: Duration) -> Duration {
        let isUnanswered = figures.waiting > 0 || figures.dropped > last.dropped
        if figures.answers != last.answers || !isUnanswered { start = nil }
        last = figures
        if isUnanswered, start == nil { start = now }
        return start.map { now - $0 } ?? .zero
    }
}
