/// Measures how long a peer has been silent although it should have answered.
///
/// libsrt has an option for that, SRTO_PEERIDLETIMEO, but also waits for sixteen internal timers: it never gives up a
/// peer before five seconds, whatever is configured (`CUDT::checkExpTimer`).
struct SRTSilence {
    /// libsrt's counts for a connection.
    struct Figures {
        /// The number of acknowledgements and loss reports that arrived.
        var answers: Int64
        /// The number of packets that are kept until they are acknowledged.
        var waiting: Int64
        /// The number of packets that were dropped as too late.
        var dropped: Int64
    }

    private var last = Figures(answers: 0, waiting: 0, dropped: 0)
    /// The time since when sent data has been unanswered.
    private var start: Duration?
    private var lastLook: Duration?

    /// The interval between counts: counting takes a lock of libsrt, and a stream may have thousands of packets a
    /// second.
    private static let spacing = Duration.milliseconds(5)

    /// Returns whether it is time to count again.
    mutating func isDue(at now: Duration) -> Bool {
        if let lastLook, now - lastLook < Self.spacing { return false }
        lastLook = now
        return true
    }

    /// Records the counts, and returns for how long the peer has been silent.
    mutating func note(_ figures: Figures, at now: Duration) -> Duration {
        let isUnanswered = figures.waiting > 0 || figures.dropped > last.dropped
        if figures.answers != last.answers || !isUnanswered { start = nil }
        last = figures
        if isUnanswered, start == nil { start = now }
        return start.map { now - $0 } ?? .zero
    }
}
