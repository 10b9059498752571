public import InletCore

/// Routes messages between one side and its peers, by their names, without a transport, a clock or a thread: its inputs
/// are the reports of a service and this side's messages, its outputs are actions.
///
/// Either side may be first. Messages of a peer without a channel are held for the next channel. Messages to an absent
/// peer, or sent while the service is disconnected, are sent (again) later; all in bounded numbers. A peer whose
/// ``SignalingInstance`` changes has restarted: its channel ends as if it had sent a bye.
///
/// A message may arrive late: one of a replaced instance is ignored. If several in a row arrive from such an instance,
/// it is the current one after all, because the first message seen of a peer may have been a late one.
public struct SignalingRouter: Sendable {
    /// Numbers the channels of a router.
    public typealias ChannelID = Int

    /// The limits on the memory that peers can make this side use.
    public struct Limits: Sendable, Hashable {
        /// The maximum number of peers that are known at a time; more are ignored. The default is 256.
        public var peers = 256
        /// The maximum number of a peer's messages that are held for its next channel. Beyond that, the oldest is
        /// dropped. The default is 64.
        public var earlyMessages = 64
        /// The maximum size of such messages of a peer in bytes. The default is 131,072.
        public var earlyBytes = 131_072
        /// The maximum number of messages that are held for a peer that cannot be reached. Beyond that, the oldest is
        /// dropped. The default is 64.
        public var heldMessages = 64

        /// Creates limits with the default of each.
        public init() {}
    }

    /// Something to do, in the given order.
    public enum Action: Sendable {
        /// Report an event.
        case tell(SignalingEvent)
        /// Pass a peer's message to a channel.
        case deliver(SignalingMessage, to: ChannelID)
        /// End a channel: it gets no more messages.
        case finish(ChannelID)
        /// Send an envelope to the service.
        case transmit(SignalingEnvelope)
    }

    private struct Peer {
        var isPresent = false
        var instance: SignalingInstance?
        /// Instances that others replaced, oldest first.
        var past: [SignalingInstance] = []
        /// The past instance that sent the last message, and the number of its messages in a row.
        var stale: (instance: SignalingInstance, count: Int)?
        var channel: ChannelID?
        var early: [SignalingMessage] = []
        var held: [SignalingMessage] = []
    }

    /// The name by which others reach this side.
    public let localID: PeerID
    /// The name of this run.
    public let instance: SignalingInstance
    /// Whether the service reports the present peers. Otherwise a peer has joined with its first message, and messages
    /// to any peer are sent at once.
    public let hasPresence: Bool
    /// The limits.
    public let limits: Limits
    /// Whether the service is connected.
    public private(set) var isOpen = false
    private var isInterrupted = false
    private var peers: [PeerID: Peer] = [:]
    /// The absent peers without a channel, oldest first: the first to be forgotten.
    private var gone: [PeerID] = []
    private var channels: [ChannelID: PeerID] = [:]
    private var count = 0
    private static let (rememberedInstances, staleInRow) = (8, 4)

    public init(
        localID: PeerID, instance: SignalingInstance = SignalingInstance(), hasPresence: Bool,
        limits: Limits = Limits()
    ) {
        self.localID = localID
        self.instance = instance
        self.hasPresence = hasPresence
        self.limits = limits
    }

    /// The present peers, in the order of their names.
    public var presentPeers: [PeerID] { peers.filter(\.value.isPresent).keys.sorted() }

    // MARK: The service

    /// Records that the service is connected, at first or again.
    ///
    /// - Parameter present: the present peers, with their instances if the service reports them; nil if it does not
    ///   report peers.
    public mutating func opened(present: [PeerID: SignalingInstance?]? = nil) -> [Action] {
        (isOpen, isInterrupted) = (true, false)
        var actions: [Action] = []
        if let present {
            for peer in presentPeers where present[peer] == nil { left(peer, nil, &actions) }
            for (peer, instance) in present.sorted(by: { $0.key < $1.key }) { joined(peer, instance, &actions) }
        }
        actions.append(.tell(.opened(peers: presentPeers)))
        for peer in peers.keys.sorted() { flush(peer, &actions) }
        return actions
    }

    /// Records that the service is disconnected. Reported once, until it is connected again.
    public mutating func interrupted(_ error: InletError) -> [Action] {
        isOpen = false
        guard !isInterrupted else { return [] }
        isInterrupted = true
        return [.tell(.interrupted(error))]
    }

    /// Records that the service reports a peer as present.
    public mutating func joined(_ peer: PeerID, instance: SignalingInstance? = nil) -> [Action] {
        var actions: [Action] = []
        joined(peer, instance, &actions)
        flush(peer, &actions)
        return actions
    }

    /// Records that the service reports a peer as gone.
    ///
    /// - Parameters:
    ///   - peer: the peer.
    ///   - instance: the run of it that has gone; nil if the service does not report it.
    public mutating func left(_ peer: PeerID, instance: SignalingInstance? = nil) -> [Action] {
        var actions: [Action] = []
        left(peer, instance, &actions)
        return actions
    }

    /// Takes a message from the service.
    public mutating func received(_ envelope: SignalingEnvelope) -> [Action] {
        guard let sender = envelope.from, sender != localID, (envelope.to ?? localID) == localID,
            isCurrent(envelope.instance, of: sender)
        else { return [] }
        var actions: [Action] = []
        // A sender is present, even if the report of its coming was lost.
        if peers[sender]?.isPresent != true || isNew(envelope.instance, of: sender) {
            joined(sender, envelope.instance, &actions)
        }
        guard var peer = peers[sender] else { return actions }
        switch envelope.content {
        case .call(let message): actions.append(.tell(.call(message, from: sender)))
        case .session(let message):
            if let channel = peer.channel {
                actions.append(.deliver(message, to: channel))
            } else if hold(message, of: &peer) {
                actions.append(.tell(.sessionRequested(by: sender)))
            }
        }
        peers[sender] = peer
        flush(sender, &actions)
        return actions
    }

    // MARK: This side

    /// Makes the channel to a peer, which need not be present. An earlier one ends.
    ///
    /// - Returns: its number, and the actions.
    /// - Throws: as ``SignalingService/channel(to:)``.
    public mutating func open(to id: PeerID) throws(InletError) -> (channel: ChannelID, actions: [Action]) {
        guard id != localID else {
            throw InletError(.invalidConfiguration, "'\(id)' is this side's own name: a session is with another peer.")
        }
        guard makeRoom(for: id) else {
            throw InletError(
                .resourceExhausted, "There are channels to \(limits.peers) peers already. Close one of them first.")
        }
        var peer = peers[id] ?? Peer()
        var actions: [Action] = []
        if let earlier = peer.channel { finish(earlier, &actions) }
        count += 1
        channels[count] = id
        actions += peer.early.map { .deliver($0, to: count) }
        (peer.channel, peer.early, peer.held) = (count, [], [])
        peers[id] = peer
        gone.removeAll { $0 == id }
        return (count, actions)
    }

    /// Takes a message of a session for its peer.
    ///
    /// - Returns: the actions; nil if the channel has ended.
    public mutating func send(_ message: SignalingMessage, on channel: ChannelID) -> [Action]? {
        guard let id = channels[channel], var peer = peers[id] else { return nil }
        if canReach(peer) { return [.transmit(envelope(.session(message), to: id))] }
        // Messages of an earlier flow are useless to a peer that has not seen it.
        switch message {
        case .description(let description) where description.kind == .offer: peer.held = []
        case .bye: peer.held = []
        default: break
        }
        if peer.held.count >= limits.heldMessages { peer.held.removeFirst(peer.held.count - limits.heldMessages + 1) }
        if limits.heldMessages > 0 { peer.held.append(message) }
        peers[id] = peer
        // The report of the peer's coming may have been lost.
        return isOpen ? [.transmit(envelope(.session(message), to: id))] : []
    }

    /// Takes a message about a call.
    ///
    /// - Throws: ``SignalingFailure`` if the peer cannot be reached.
    public func send(_ message: CallMessage, to id: PeerID) throws(SignalingFailure) -> [Action] {
        guard isOpen else {
            throw SignalingFailure(
                InletError(.disconnected, "The signaling service is not reached at present."),
                retryAfter: .seconds(1))
        }
        guard !hasPresence || peers[id]?.isPresent == true else {
            throw SignalingFailure(InletError(.notFound, "There is no peer '\(id)' at present."), retryAfter: nil)
        }
        return [.transmit(envelope(.call(message), to: id))]
    }

    /// Ends a channel at the request of its session.
    public mutating func close(_ channel: ChannelID) -> [Action] {
        var actions: [Action] = []
        finish(channel, &actions)
        return actions
    }

    /// Ends everything.
    ///
    /// - Parameter error: nil if this side ends it.
    public mutating func closed(_ error: InletError?) -> [Action] {
        isOpen = false
        let actions = channels.keys.sorted().map { Action.finish($0) }
        (channels, peers, gone) = ([:], [:], [])
        return actions + [.tell(.closed(error))]
    }

    // MARK: Peers

    private func canReach(_ peer: Peer) -> Bool { isOpen && (peer.isPresent || !hasPresence) }

    private func envelope(_ content: SignalingEnvelope.Content, to peer: PeerID) -> SignalingEnvelope {
        SignalingEnvelope(from: localID, to: peer, instance: instance, content)
    }

    private mutating func joined(_ id: PeerID, _ instance: SignalingInstance?, _ actions: inout [Action]) {
        guard id != localID, makeRoom(for: id) else { return }
        var peer = peers[id] ?? Peer()
        let isAnew = isNew(instance, of: id) && peer.instance != nil
        if isAnew {
            if let past = peer.instance { peer.past = (peer.past + [past]).suffix(Self.rememberedInstances) }
            if let channel = peer.channel {
                actions += [.deliver(.bye(nil), to: channel), .finish(channel)]
                channels[channel] = nil
            }
            (peer.channel, peer.early, peer.held) = (nil, [], [])
        }
        if let instance {
            peer.instance = instance
            peer.past.removeAll { $0 == instance }
        }
        peer.stale = nil
        let wasPresent = peer.isPresent
        peer.isPresent = true
        peers[id] = peer
        gone.removeAll { $0 == id }
        if !wasPresent { actions.append(.tell(.joined(id))) }
        if isAnew { actions.append(.tell(.reset(id))) }
    }

    private mutating func left(_ id: PeerID, _ instance: SignalingInstance?, _ actions: inout [Action]) {
        guard var peer = peers[id], peer.isPresent else { return }
        // The end of a run that another has already replaced.
        if let instance, let current = peer.instance, instance != current { return }
        peer.isPresent = false
        peer.early = []
        peers[id] = peer
        if peer.channel == nil { gone.append(id) }
        actions.append(.tell(.left(id)))
    }

    private func isNew(_ instance: SignalingInstance?, of id: PeerID) -> Bool {
        guard let instance else { return false }
        return peers[id]?.instance != instance
    }

    /// Returns whether a message of this instance counts.
    private mutating func isCurrent(_ instance: SignalingInstance?, of id: PeerID) -> Bool {
        guard let instance, var peer = peers[id] else { return true }
        guard peer.past.contains(instance) else {
            peers[id]?.stale = nil
            return true
        }
        let seen = peer.stale.map { $0.instance == instance ? $0.count : 0 } ?? 0
        peer.stale = (instance, seen + 1)
        peers[id] = peer
        return seen + 1 >= Self.staleInRow
    }

    /// Makes room for a peer, and forgets an absent one if necessary.
    private mutating func makeRoom(for id: PeerID) -> Bool {
        if peers[id] != nil || peers.count < limits.peers { return true }
        guard !gone.isEmpty else { return false }
        peers[gone.removeFirst()] = nil
        return true
    }

    private mutating func finish(_ channel: ChannelID, _ actions: inout [Action]) {
        guard let id = channels.removeValue(forKey: channel) else { return }
        actions.append(.finish(channel))
        guard var peer = peers[id], peer.channel == channel else { return }
        (peer.channel, peer.held) = (nil, [])
        peers[id] = peer
        if !peer.isPresent { gone.append(id) }
    }

    /// Holds a message for the peer's next channel.
    ///
    /// - Returns: whether the peer offers a new session.
    private func hold(_ message: SignalingMessage, of peer: inout Peer) -> Bool {
        let isRequest: Bool
        switch message {
        case .bye:
            // It ends the held messages; to a later channel it would mean nothing.
            peer.early = []
            return false
        case .description(let description):
            isRequest = description.kind == .offer && !peer.early.contains(message)
        case .candidate: isRequest = false
        }
        peer.early.append(message)
        var bytes = peer.early.reduce(0) { $0 + $1.size }
        while peer.early.count > limits.earlyMessages || bytes > limits.earlyBytes, !peer.early.isEmpty {
            bytes -= peer.early.removeFirst().size
        }
        return isRequest
    }

    private mutating func flush(_ id: PeerID, _ actions: inout [Action]) {
        guard let peer = peers[id], !peer.held.isEmpty, canReach(peer) else { return }
        actions += peer.held.map { .transmit(envelope(.session($0), to: id)) }
        peers[id]?.held = []
    }
}

extension SignalingMessage {
    /// The bytes of its texts.
    fileprivate var size: Int {
        switch self {
        case .description(let description): description.sdp.utf8.count + description.flow.description.utf8.count
        case .candidate(let candidate): candidate.line.utf8.count + candidate.flow.description.utf8.count
        case .bye(let flow): flow?.description.utf8.count ?? 0
        }
    }
}
