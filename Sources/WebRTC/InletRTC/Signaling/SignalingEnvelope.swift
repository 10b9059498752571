/// A message on its way from one peer to another.
public struct SignalingEnvelope: Sendable, Hashable {
    /// The sender; nil if the service knows it anyway.
    public var from: PeerID?
    /// The receiver; nil for every reader, as on a channel between two.
    public var to: PeerID?
    /// The sender's run; nil if the service does not report it.
    public var instance: SignalingInstance?
    /// The message.
    public var content: Content

    public init(
        from: PeerID? = nil, to: PeerID? = nil, instance: SignalingInstance? = nil, _ content: Content
    ) {
        self.from = from
        self.to = to
        self.instance = instance
        self.content = content
    }

    /// The content of an envelope.
    public enum Content: Sendable, Hashable {
        /// A message of a session.
        case session(SignalingMessage)
        /// A message about a call.
        case call(CallMessage)
    }
}
