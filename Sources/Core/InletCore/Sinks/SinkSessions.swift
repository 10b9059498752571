/// The sessions of a sink that sends over a network: viewers, peers, or the one with a server.
public struct SinkSessions: Sendable, Hashable {
    /// Sessions over which frames can go now.
    public var open = 0
    /// Sessions that are being established, for the first time or again.
    public var pending = 0
    /// The number of sessions that have come up, over the whole run.
    public var opened: UInt64 = 0
    /// The reason why the newest attempt failed, without credentials; nil before a failure, and once a session has come
    /// up since.
    public var failure: String?

    /// Makes the value of a sink without sessions.
    public init() {}
}
