public import InletCore

/// Something that a signaling service reports.
public enum SignalingEvent: Sendable {
    /// The service is reached, at first or again, and these peers are there; none where a service does not tell. What
    /// changed in between was reported before. A stream that is requested while the service is open begins with it.
    case opened(peers: [PeerID])
    /// The service is not reached, and is being connected to again.
    case interrupted(InletError)
    /// A peer has come, or has been heard of for the first time.
    case joined(PeerID)
    /// A peer has gone, or has not been heard of for too long. Its sessions may go on: media takes another path.
    case left(PeerID)
    /// A peer begins anew, as after a crash: it knows nothing of the sessions and calls before. The channel to it has
    /// ended; ``SignalingService/channel(to:)`` returns another.
    case reset(PeerID)
    /// A peer offers a session, and there is no channel to it: what it says is held for the channel that
    /// ``SignalingService/channel(to:)`` returns.
    case sessionRequested(by: PeerID)
    /// A message about a call.
    case call(CallMessage, from: PeerID)
    /// The service has ended for good: closed by this side if the error is nil. The last event.
    case closed(InletError?)
}
