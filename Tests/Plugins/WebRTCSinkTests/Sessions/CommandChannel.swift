#if GStreamer
import Foundation
import InletCore
import InletRTC
import ReferenceTools
import Synchronization
import Testing

/// Signaling with a peer of Tests/Peers by its commands, in a chosen order.
final class CommandChannel: SignalingChannel {
    /// The order of messages on their way to the peer.
    enum Order: Sendable, CaseIterable {
        /// Messages arrive in the order in which they were sent.
        case asSent
        /// Some candidates overtake the offer, and each message arrives twice. The bye arrives once.
        case candidatesFirst
        /// The peer starts late, and no message arrives before it exists.
        case peerLate
    }

    let incoming: AsyncStream<SignalingMessage>
    private let received: AsyncStream<SignalingMessage>.Continuation
    private let state: Mutex<State>
    private let order: Order
    private let python: String
    private let arguments: [String]

    private struct State {
        var peer: PeerProcess?
        var held: [SignalingMessage] = []
        var isPeerHeld = false
        var isClosed = false
    }

    init(_ order: Order, python: String, _ arguments: [String] = []) throws {
        self.order = order
        self.python = python
        self.arguments = arguments
        (incoming, received) = AsyncStream.makeStream(of: SignalingMessage.self)
        state = Mutex(
            State(
                peer: order == .peerLate
                    ? nil : try PeerProcess("signaled-peer.py", arguments, python: python)))
        poll()
    }

    var peer: PeerProcess? { state.withLock { $0.peer } }

    /// Runs commands in their order. With a lock, the frequent polling could keep it from other callers.
    private let queue = DispatchQueue(label: "signaling")

    /// Sends the peer a command.
    @discardableResult
    func ask(_ command: String, _ parameters: ReferenceTools.PeerMessage = [:]) async throws
        -> ReferenceTools.PeerMessage
    {
        let peer = try #require(self.peer)
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: .init { try peer.send(command, parameters) }) }
        }
    }

    /// Whether the peer's messages wait at the peer.
    var isPeerHeld: Bool {
        get { state.withLock { $0.isPeerHeld } }
        set { state.withLock { $0.isPeerHeld = newValue } }
    }

    /// Repeatedly takes the peer's messages, each time for a moment.
    private func poll() {
        queue.asyncAfter(deadline: .now() + .milliseconds(10)) { [weak self] in
            guard let self, !state.withLock({ $0.isClosed }) else { return }
            if !isPeerHeld, let message = (try? peer?.send("poll"))?["message"].flatMap(Self.message) {
                received.yield(message)
            }
            poll()
        }
    }

    /// Starts the peer and sends it all earlier messages, after the commands of `prepare`.
    func bringPeer(_ prepare: @escaping @Sendable (PeerProcess) throws -> Void = { _ in }) async throws {
        let (python, arguments) = (python, arguments)
        let peer = try await aside {
            let peer = try PeerProcess("signaled-peer.py", arguments, python: python)
            try prepare(peer)
            return peer
        }
        let held = state.withLock { state in
            state.peer = peer
            defer { state.held = [] }
            return state.held
        }
        for message in held { try await ask("deliver", Self.command(message)) }
    }

    func send(_ message: SignalingMessage) async throws(SignalingFailure) {
        let due = state.withLock { state -> [SignalingMessage] in
            state.held.append(message)
            let candidates = state.held.filter { if case .candidate = $0 { true } else { false } }
            switch order {
            case .asSent: break
            case .peerLate: if state.peer == nil { return [] }
            case .candidatesFirst:
                let hasOffer = state.held.contains { if case .description = $0 { true } else { false } }
                guard !hasOffer || candidates.count >= 2 else { return [] }
                let others = state.held.filter { !candidates.contains($0) }
                let descriptions = others.filter { if case .description = $0 { true } else { false } }
                state.held = candidates.reversed() + candidates + descriptions + others
            }
            defer { state.held = [] }
            return state.held
        }
        do {
            for each in due { try await ask("deliver", Self.command(each)) }
        } catch {
            throw SignalingFailure(.init(wrapping: error, operation: "Delivering"))
        }
    }

    func close() async {
        state.withLock { $0.isClosed = true }
        received.finish()
    }

    private static func command(_ message: SignalingMessage) -> ReferenceTools.PeerMessage {
        let value: ReferenceTools.PeerMessage =
            switch message {
            case .description(let it):
                ["type": .string(it.kind.rawValue), "flow": .string("\(it.flow)"), "sdp": .string(it.sdp)]
            case .candidate(let it):
                ["type": .string("candidate"), "flow": .string("\(it.flow)"), "line": .string(it.line)]
            case .bye: ["type": .string("bye")]
            }
        return ["message": .object(value)]
    }

    private static func message(_ value: PeerValue) -> SignalingMessage? {
        guard case .object(let fields) = value, let type = fields["type"]?.text else { return nil }
        let flow = SignalingFlow(fields["flow"]?.text ?? "")
        switch type {
        case "candidate":
            return .candidate(ICECandidate(line: fields["line"]?.text ?? "", section: 0, flow: flow))
        case "bye": return .bye(flow)
        default:
            return SessionDescription.Kind(rawValue: type).map {
                .description(SessionDescription(kind: $0, sdp: fields["sdp"]?.text ?? "", flow: flow))
            }
        }
    }
}
#endif
