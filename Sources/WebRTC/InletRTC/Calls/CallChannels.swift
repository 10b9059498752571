import Synchronization

/// The two sessions of a call, one each way, over one channel. Safe from any thread.
///
/// Each side offers what it sends. Flows of the caller's offers begin with the call's name and `/caller-`, those of the
/// called peer with `/called-`, so each message finds its session, and one of another call finds none. The channel is
/// closed when both halves are.
public final class CallChannels: Sendable {
    private let channel: any SignalingChannel
    private let half: (sending: Half, receiving: Half)
    /// The name of this side's sessions that send, for ``PeerSessionPolicy/name``.
    public let sendingName: String

    /// Splits a channel.
    ///
    /// - Parameters:
    ///   - channel: the channel to the peer, which has no other reader.
    ///   - call: the call.
    ///   - isCaller: whether this side placed the call.
    public init(_ channel: any SignalingChannel, call: CallID, isCaller: Bool) {
        self.channel = channel
        let names = (caller: "\(call)/caller", called: "\(call)/called")
        let (mine, theirs) = isCaller ? (names.caller, names.called) : (names.called, names.caller)
        sendingName = mine
        let open = Mutex(2)
        let close: @Sendable () async -> Void = {
            let isLast = open.withLock { count in
                count -= 1
                return count == 0
            }
            if isLast { await channel.close() }
        }
        half = (Half(channel, onClose: close), Half(channel, onClose: close))
        let (sending, receiving) = half
        Task {
            for await message in channel.incoming {
                switch Self.flow(of: message) {
                case nil:
                    sending.arrived.yield(message)
                    receiving.arrived.yield(message)
                case let flow? where flow.description.utf8.starts(with: "\(mine)-".utf8): sending.arrived.yield(message)
                case let flow? where flow.description.utf8.starts(with: "\(theirs)-".utf8):
                    receiving.arrived.yield(message)
                default: break
                }
            }
            sending.arrived.finish()
            receiving.arrived.finish()
        }
    }

    /// The channel of the session in which this side sends.
    public var sending: any SignalingChannel { half.sending }
    /// The channel of the session in which this side receives.
    public var receiving: any SignalingChannel { half.receiving }

    private static func flow(of message: SignalingMessage) -> SignalingFlow? {
        switch message {
        case .description(let description): description.flow
        case .candidate(let candidate): candidate.flow
        case .bye(let flow): flow
        }
    }

    private final class Half: SignalingChannel {
        let incoming: AsyncStream<SignalingMessage>
        let arrived: AsyncStream<SignalingMessage>.Continuation
        private let channel: any SignalingChannel
        private let isClosed = Atomic(false)
        private let onClose: @Sendable () async -> Void
        /// Enough for a few flows with all of their candidates.
        private static let mostMessages = 256

        init(_ channel: any SignalingChannel, onClose: @escaping @Sendable () async -> Void) {
            self.channel = channel
            self.onClose = onClose
            (incoming, arrived) = AsyncStream.makeStream(
                of: SignalingMessage.self, bufferingPolicy: .bufferingNewest(Self.mostMessages))
        }

        func iceServers() async -> [ICEServer] { await channel.iceServers() }
        func send(_ message: SignalingMessage) async throws(SignalingFailure) { try await channel.send(message) }
        func close() async {
            guard !isClosed.exchange(true, ordering: .relaxed) else { return }
            arrived.finish()
            await onClose()
        }
    }
}
