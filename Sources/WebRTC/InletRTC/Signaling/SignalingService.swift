public import InletCore

/// A service by which a peer reaches any number of others, by their names: a room on a server, a message broker.
///
/// Peers may come in any order. An implementation may lose, duplicate, delay and reorder messages: sessions and calls
/// tolerate that. ``SignalingDispatcher`` has all of it except the transport. Safe from any thread.
public protocol SignalingService: AnyObject, Sendable {
    /// The name by which others reach this side.
    var localID: PeerID { get }

    /// Whether the service is connected now, so that messages are sent at once.
    var isOpen: Bool { get }

    /// Returns the events; each call returns a separate stream, which ends with the service. The first stream has the
    /// events since the service was created, so that no offer and no call is missed. Later streams begin with the
    /// service's present state, ``SignalingEvent/opened(peers:)`` or ``SignalingEvent/closed(_:)``, unless it has not
    /// been connected yet, and continue with new events. A slow reader loses the oldest events.
    func events() -> AsyncStream<SignalingEvent>

    /// Returns the channel for one session with a peer, which need not be present yet.
    ///
    /// A peer has one channel at a time: an earlier one ends. Messages that the peer sent without a channel come first.
    /// Messages to an absent peer, or sent while the service is disconnected, are kept in bounded numbers and sent
    /// later; only those of the newest offer are.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for the service's own name, ``InletError/Code/cancelled`` if
    ///   the service has ended, ``InletError/Code/resourceExhausted`` if there are too many channels.
    func channel(to peer: PeerID) throws(InletError) -> any SignalingChannel

    /// Sends a message about a call to a peer.
    ///
    /// - Throws: ``SignalingFailure`` if the message cannot reach the peer: the peer is absent
    ///   (``InletError/Code/notFound``), the service is disconnected (``InletError/Code/disconnected``), has ended
    ///   (``InletError/Code/cancelled``), or too much waits to be sent (``InletError/Code/resourceExhausted``).
    func send(_ message: CallMessage, to peer: PeerID) async throws(SignalingFailure)

    /// Returns the STUN and TURN servers that the service provides. Called before each flow, for at most a second or
    /// two. Empty by default.
    func iceServers() async -> [ICEServer]

    /// Leaves the service and ends all channels and events. Returns when the service was notified, or after a deadline
    /// of the implementation. Further calls do nothing.
    func close() async
}

extension SignalingService {
    /// Returns no servers.
    public func iceServers() async -> [ICEServer] { [] }
}
