/// What two peers tell each other before media flows, and at the end.
public enum SignalingMessage: Sendable, Hashable {
    /// An offer or an answer.
    case description(SessionDescription)
    /// An address. It may come before the description that it belongs to.
    case candidate(ICECandidate)
    /// The session is over; nil where it is not said which flow.
    case bye(SignalingFlow?)
}
