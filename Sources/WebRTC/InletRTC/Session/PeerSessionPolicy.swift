/// The roles, time-outs and retries of a session.
public struct PeerSessionPolicy: Sendable, Hashable {
    /// The side that begins.
    public enum Role: Sendable, Hashable {
        /// This side offers, at the start and whenever the flow restarts.
        case offering
        /// This side waits for offers.
        case answering
    }

    /// The side that begins. If both offer, ``yields`` decides which of them goes first.
    public var role: Role
    /// A name that differs for every session of every program: this side's flows are named after it.
    public var name: String
    /// Whether this side drops its own offer if the peer's crosses it, first or further: the polite one of the two. It
    /// offers again when the peer's is answered. Exactly one of the two does so. The default is false.
    public var yields = false
    /// Whether candidates are sent as they are found. Otherwise a description is held until it contains them. The
    /// default is false.
    public var trickles = false
    /// The number of times that the whole flow restarts without having been connected for ``healthy`` in between. The
    /// default is 0.
    public var attempts = 0
    /// The time from offer to answer, both set. The default is 10 seconds.
    public var exchange = Duration.seconds(10)
    /// The time for gathering this side's candidates; those found by then are sent. The default is 2 seconds.
    public var gathering = Duration.seconds(2)
    /// The time from both descriptions to media. The default is 10 seconds.
    public var connecting = Duration.seconds(10)
    /// The time from a broken path to media. The default is 10 seconds.
    public var reconnecting = Duration.seconds(10)
    /// The time that a peer that receives media may stay silent. The default is 10 seconds.
    public var silence = Duration.seconds(10)
    /// How soon the peer must send something after an address or a route of this machine is gone; otherwise the flow
    /// restarts. The default is 1.2 seconds, because browsers report once a second.
    public var confirming = Duration.milliseconds(1200)
    /// The connection time after which the count of attempts is reset. The default is 10 seconds.
    public var healthy = Duration.seconds(10)
    /// The wait before the second further attempt; it doubles with each, up to ``longestBackOff``. The first follows at
    /// once. The default is a second.
    public var backOff = Duration.seconds(1)
    /// The longest wait before an attempt. The default is 30 seconds.
    public var longestBackOff = Duration.seconds(30)

    public init(role: Role, name: String) {
        self.role = role
        self.name = name
    }

    /// Returns the wait before the attempt with this number, from 1.
    func delay(beforeAttempt number: Int) -> Duration {
        guard number > 1 else { return .zero }
        return min(longestBackOff, backOff * (1 << min(number - 2, 20)))
    }
}
