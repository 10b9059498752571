import InletRTC

/// Determines the flow of Kinesis Video messages, which do not state it: an answer and candidates belong to the latest
/// offer between two peers, and candidates before any offer belong to the next one. Has no input or output.
struct KinesisFlows: Sendable {
    private struct Peer {
        var current: SignalingFlow?
        /// The flow of candidates that arrived before their offer.
        var pending: SignalingFlow?
    }

    private var peers: [PeerID: Peer] = [:]
    /// The peers in the order of their first messages.
    private var order: [PeerID] = []
    private let makeFlow: @Sendable () -> SignalingFlow
    /// An upper limit for the peers of a router.
    private static let mostPeers = 512

    init(makeFlow: @escaping @Sendable () -> SignalingFlow = { SignalingFlow(RandomName.make()) }) {
        self.makeFlow = makeFlow
    }

    /// Records a message sent by this side.
    mutating func sent(_ message: SignalingMessage, to peer: PeerID) {
        guard case .description(let description) = message, description.kind == .offer else { return }
        update(peer) { $0.current = description.flow }
    }

    /// Returns a peer's message in the form for its session; nil for a message that is unsolicited or does not belong
    /// to a session.
    mutating func received(_ message: KinesisMessage, from peer: PeerID) -> SignalingMessage? {
        let makeFlow = makeFlow
        switch message {
        case .offer(let sdp):
            let flow = update(peer) { state in
                let flow = state.pending ?? makeFlow()
                (state.current, state.pending) = (flow, nil)
                return flow
            }
            return .description(SessionDescription(kind: .offer, sdp: sdp, flow: flow))
        case .answer(let sdp):
            guard let flow = peers[peer]?.current else { return nil }
            return .description(SessionDescription(kind: .answer, sdp: sdp, flow: flow))
        case .candidate(let line, let section):
            let flow = update(peer) { state in
                if let current = state.current { return current }
                let flow = state.pending ?? makeFlow()
                state.pending = flow
                return flow
            }
            return .candidate(ICECandidate(line: line, section: section, flow: flow))
        case .goAway, .reconnectICEServer, .status: return nil
        }
    }

    @discardableResult
    private mutating func update<Result>(_ id: PeerID, _ change: (inout Peer) -> Result) -> Result {
        if peers[id] == nil {
            if order.count >= Self.mostPeers { peers[order.removeFirst()] = nil }
            order.append(id)
        }
        return change(&peers[id, default: Peer()])
    }
}
