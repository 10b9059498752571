/// Tells how long a peer has answered nothing though it had something to answer.
///
/// libsrt has an option for that, SRTO_PEERIDLETIMEO, and waits for sixteen of its own timers besides: it gives no peer
/// up before five seconds, whatever is asked for (`CUDT::checkExpTimer`).
struct SRTSilence {
    /// What libsrt counts of a connection.
    struct Figures {
        /// Acknowledgements and reports of losses that came.
        var answers: Int64
        /// Packets that are kept until they are acknowledged.
        var waiting: Int64
        /// Packets that were given up as too late.
        var dropped: Int64
    }

    private var last = Figures(answers: 0, waiting: 0, dropped: 0)
    /// Since when something has been unanswered.
    private var start: Duration?
    private var lastLook: Duration?

    /// Counting takes a lock of libsrt, and a stream may have thousands of packets a second.
    private static let spacing = Duration.milliseconds(5)

    /// Whether it is time to count again.
    mutating func isDue(at now: Duration) -> Bool {
        if let lastLook, now - lastLook < Self.spacing { return false }
        lastLook = now
        return true
    }

    /// Takes in what was counted, and returns for how long the peer has been silent.
    mutating func note(_ figures: Figures, at now: Duration) -> Duration {
        let isUnanswered = figures.waiting > 0 || figures.dropped > last.dropped
        if figures.answers != last.answers || !isUnanswered { start = nil }
        last = figures
        if isUnanswered, start == nil { start = now }
        return start.map { now - $0 } ?? .zero
    }
}
