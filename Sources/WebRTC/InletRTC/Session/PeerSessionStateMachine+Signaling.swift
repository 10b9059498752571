extension PeerSessionStateMachine.Input {
    /// Translates a message of the peer into an input of a session.
    package init(_ message: SignalingMessage) {
        switch message {
        case .description(let description): self = .description(description)
        case .candidate(let candidate): self = .candidate(candidate)
        case .bye(let flow): self = .bye(flow)
        }
    }
}
