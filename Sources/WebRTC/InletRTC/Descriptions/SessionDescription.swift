/// An offer or an answer.
public struct SessionDescription: Sendable, Hashable {
    /// The kind of a description.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Begins a flow.
        case offer
        /// Answers the flow's offer.
        case answer
    }

    /// Whether it offers or answers.
    public var kind: Kind
    /// The text.
    public var sdp: String
    /// The flow of the offer, its answer and their candidates, which identifies messages that signaling delays,
    /// duplicates or reorders.
    public var flow: SignalingFlow

    public init(kind: Kind, sdp: String, flow: SignalingFlow) {
        self.kind = kind
        self.sdp = sdp
        self.flow = flow
    }
}

/// The name of one offer and all messages that belong to it. Every offer has a new one.
public struct SignalingFlow: Sendable, Hashable, CustomStringConvertible {
    /// The name, as signaling carries it: not empty, and different for every offer of every peer.
    public let description: String
    /// Creates a flow from the name that signaling carried.
    public init(_ name: String) { description = name }
}

/// An address at which a peer may be reached.
public struct ICECandidate: Sendable, Hashable {
    /// The line of the description without `a=`; empty at the end of the candidates.
    public var line: String
    /// The index of its media section, from 0.
    public var section: Int
    /// The flow that it belongs to.
    public var flow: SignalingFlow

    public init(line: String, section: Int, flow: SignalingFlow) {
        self.line = line
        self.section = section
        self.flow = flow
    }
}
