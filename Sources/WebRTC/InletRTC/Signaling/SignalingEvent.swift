public import InletCore

/// An event of a signaling service.
public enum SignalingEvent: Sendable {
    /// The service is connected, at first or again, and these peers are present; empty if the service does not report
    /// peers. Changes in between were reported before. A stream that is requested while the service is open begins with
    /// it.
    case opened(peers: [PeerID])
    /// The service is disconnected, and is being connected again.
    case interrupted(InletError)
    /// A peer has come, or has sent its first message.
    case joined(PeerID)
    /// A peer has left, or has sent nothing for too long. Its sessions may continue: media takes another path.
    case left(PeerID)
    /// A peer has restarted, for example after a crash: it does not know the earlier sessions and calls. The channel to
    /// it has ended; ``SignalingService/channel(to:)`` returns another.
    case reset(PeerID)
    /// A peer without a channel offers a session: its messages are held for the channel that
    /// ``SignalingService/channel(to:)`` returns.
    case sessionRequested(by: PeerID)
    /// A message about a call.
    case call(CallMessage, from: PeerID)
    /// The service has ended permanently: closed by this side if the error is nil. The last event.
    case closed(InletError?)
}
