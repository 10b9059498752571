/// What a session goes by.
public struct PeerSessionPolicy: Sendable, Hashable {
    /// Who begins.
    public enum Role: Sendable, Hashable {
        /// This side offers, at the start and whenever the flow begins anew.
        case offering
        /// This side waits for offers.
        case answering
    }

    /// Who begins. Two that both offer find out which of them goes first by ``yields``.
    public var role: Role
    /// Different for every session of every program: own flows are named by it.
    public var name: String
    /// Whether this side drops its own offer where the peer's crosses it. Exactly one of the two does. The default is
    /// false.
    public var yields = false
    /// Whether candidates are sent as they are found. Otherwise a description waits until it holds them. The default is
    /// false.
    public var trickles = false
    /// How often the whole flow begins anew without having been connected for ``healthy`` in between. The default is 0.
    public var attempts = 0
    /// From offer to answer, both set. The default is 10 seconds.
    public var exchange = Duration.seconds(10)
    /// The time for own candidates; those found by then are sent. The default is 2 seconds.
    public var gathering = Duration.seconds(2)
    /// From both descriptions to media. The default is 10 seconds.
    public var connecting = Duration.seconds(10)
    /// From a broken path to media. The default is 10 seconds.
    public var reconnecting = Duration.seconds(10)
    /// How long a peer that gets media may say nothing. The default is 10 seconds.
    public var silence = Duration.seconds(10)
    /// After being connected for this long, attempts are counted anew. The default is 10 seconds.
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

    /// How long the attempt with this number waits, from 1 on.
    func delay(beforeAttempt number: Int) -> Duration {
        guard number > 1 else { return .zero }
        return min(longestBackOff, backOff * (1 << min(number - 2, 20)))
    }
}
