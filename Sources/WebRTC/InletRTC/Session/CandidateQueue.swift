/// Holds a peer's candidates until its description is set, and returns them in order.
///
/// They may arrive before the description, for one flow or several: signaling keeps no order. Bounded in flows and in
/// candidates of each, so that a peer cannot use up the memory.
package struct CandidateQueue: Sendable {
    /// The action for a candidate.
    package enum Outcome: Sendable, Hashable {
        /// Add the candidate now.
        case ready
        /// The candidate is held until its flow's description is set.
        case held
        /// The candidate arrived before, or belongs to a flow that has ended.
        case ignored
        /// The candidate exceeds the capacity.
        case refused
    }

    private struct Held {
        var flow: SignalingFlow
        var candidates: [ICECandidate] = []
    }

    private let capacity: Int
    private let flows: Int
    private var held: [Held] = []
    /// The flows whose candidates are added now: that of the first description, and of further ones.
    private var current: [SignalingFlow] = []
    private var given: Set<ICECandidate> = []
    private var over: [SignalingFlow] = []
    private static let rememberedFlows = 32

    /// - Parameters:
    ///   - capacity: the maximum number of candidates of one flow. The default is 64.
    ///   - flows: the maximum number of flows whose descriptions have not arrived. The default is 4; beyond that the
    ///     oldest is dropped.
    package init(capacity: Int = 64, flows: Int = 4) {
        self.capacity = max(1, capacity)
        self.flows = max(1, flows)
    }

    /// Adds a candidate.
    package mutating func add(_ candidate: ICECandidate) -> Outcome {
        if current.contains(candidate.flow) {
            guard !given.contains(candidate) else { return .ignored }
            guard given.count < capacity else { return .refused }
            given.insert(candidate)
            return .ready
        }
        guard !over.contains(candidate.flow) else { return .ignored }
        guard let index = held.firstIndex(where: { $0.flow == candidate.flow }) else {
            if held.count == flows { held.removeFirst() }
            held.append(Held(flow: candidate.flow, candidates: [candidate]))
            return .held
        }
        guard !held[index].candidates.contains(candidate) else { return .ignored }
        guard held[index].candidates.count < capacity else { return .refused }
        held[index].candidates.append(candidate)
        return .held
    }

    /// Records that the description of a flow is set.
    ///
    /// - Parameter continues: whether candidates of the earlier flows are still valid, because the engine is the same.
    ///   The default is false.
    /// - Returns: the candidates held for it, in the order of arrival.
    package mutating func open(_ flow: SignalingFlow, continues: Bool = false) -> [ICECandidate] {
        guard !current.contains(flow) else { return [] }
        if !continues { closeCurrent() }
        over.removeAll { $0 == flow }
        if current.count == Self.rememberedFlows { current.removeFirst() }
        current.append(flow)
        let candidates = held.first { $0.flow == flow }?.candidates ?? []
        held.removeAll { $0.flow == flow }
        // The limit of each flow applies to it separately.
        given = Set(candidates)
        return candidates
    }

    /// Records that a flow has ended: further candidates for it are ignored.
    package mutating func close(_ flow: SignalingFlow) {
        if current.contains(flow) { closeCurrent() } else { remember(flow) }
        held.removeAll { $0.flow == flow }
    }

    private mutating func closeCurrent() {
        for flow in current { remember(flow) }
        (current, given) = ([], [])
    }

    private mutating func remember(_ flow: SignalingFlow) {
        guard !over.contains(flow) else { return }
        over.append(flow)
        if over.count > Self.rememberedFlows { over.removeFirst() }
    }
}
