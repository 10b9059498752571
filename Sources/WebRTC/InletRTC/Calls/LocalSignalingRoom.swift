public import InletCore
import Synchronization

/// A signaling service within one process: peers that enter a room reach each other. Safe from any thread.
///
/// It is for programs whose peers are all in one process, such as tests and samples.
public final class LocalSignalingRoom: Sendable {
    private let members = Mutex<[PeerID: Member]>([:])
    /// The maximum number of messages that wait for a member. Beyond that they are lost, as in any signaling.
    private static let mostMessages = 1024

    private struct Member {
        var dispatcher: SignalingDispatcher
        var inbox: AsyncStream<SignalingEnvelope>.Continuation
    }

    public init() {}

    /// Enters the room under a name.
    ///
    /// - Parameters:
    ///   - peer: the name, unique in the room.
    ///   - instance: the name of this run. The default is random.
    /// - Throws: ``InletError/Code/busy`` if a member of this name is present.
    public func enter(
        as peer: PeerID, instance: SignalingInstance = SignalingInstance()
    ) throws(InletError) -> any SignalingService {
        let dispatcher = SignalingDispatcher(SignalingRouter(localID: peer, instance: instance, hasPresence: true)) {
            [weak self] envelope throws(SignalingFailure) in
            guard let to = envelope.to, let inbox = self?.members.withLock({ $0[to]?.inbox }) else { return }
            inbox.yield(envelope)
        }
        let (envelopes, inbox) = AsyncStream.makeStream(
            of: SignalingEnvelope.self, bufferingPolicy: .bufferingOldest(Self.mostMessages))
        let others = members.withLock { members -> [PeerID: Member]? in
            guard members[peer] == nil else { return nil }
            defer { members[peer] = Member(dispatcher: dispatcher, inbox: inbox) }
            return members
        }
        guard let others else {
            throw InletError(.busy, "The room already has a peer named '\(peer)'. Join it under another name.")
        }
        Task { for await envelope in envelopes { dispatcher.receive(envelope) } }
        dispatcher.opened(present: others.mapValues { $0.dispatcher.instance })
        for other in others.values { other.dispatcher.joined(peer, instance: dispatcher.instance) }
        return Service(self, dispatcher)
    }

    private func leave(_ dispatcher: SignalingDispatcher) {
        let (member, others) = members.withLock { members in
            let isThere = members[dispatcher.localID]?.dispatcher === dispatcher
            let member = isThere ? members.removeValue(forKey: dispatcher.localID) : nil
            return (member, Array(members.values))
        }
        guard let member else { return }
        member.inbox.finish()
        for other in others { other.dispatcher.left(dispatcher.localID, instance: dispatcher.instance) }
        dispatcher.closed(nil)
    }

    private final class Service: SignalingService {
        private let room: LocalSignalingRoom
        private let dispatcher: SignalingDispatcher

        init(_ room: LocalSignalingRoom, _ dispatcher: SignalingDispatcher) {
            self.room = room
            self.dispatcher = dispatcher
        }

        var localID: PeerID { dispatcher.localID }
        var isOpen: Bool { dispatcher.isOpen }
        func events() -> AsyncStream<SignalingEvent> { dispatcher.events() }
        func channel(to peer: PeerID) throws(InletError) -> any SignalingChannel { try dispatcher.channel(to: peer) }
        func send(_ message: CallMessage, to peer: PeerID) async throws(SignalingFailure) {
            try dispatcher.send(message, to: peer)
        }
        func close() async { room.leave(dispatcher) }
    }
}
