/// A message between two peers before media flows, and at the end.
public enum SignalingMessage: Sendable, Hashable {
    /// An offer or an answer.
    case description(SessionDescription)
    /// An address of the peer. It may arrive before the description that it belongs to.
    case candidate(ICECandidate)
    /// The session has ended; nil if the flow is not named.
    case bye(SignalingFlow?)
}
