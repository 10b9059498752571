public import InletCore
public import InletRTC
import Synchronization

/// Signaling in a room of a ``RoomServer``, over a WebSocket that reconnects each time it breaks. Safe from any thread.
///
///     let room = try WebSocketSignaling(WebSocketSignalingConfiguration("ws://127.0.0.1:8443/studio?id=camera"))
///     for await event in room.events() {
///         if case .sessionRequested(let peer) = event {
///             let channel = try room.channel(to: peer)
///             // A session over the channel follows.
///         }
///     }
///
/// The room is left with ``close()``, or when the last reference is released.
public final class WebSocketSignaling: SignalingService {
    private let dispatcher: SignalingDispatcher
    private let outbox: RoomOutbox
    private let running: Task<Void, Never>
    /// The time limit for leaving the room.
    private static let closingLimit = Duration.seconds(3)

    /// Starts to connect. Returns at once: the event ``SignalingEvent/opened(peers:)`` reports that the room was
    /// entered.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    public init(_ configuration: WebSocketSignalingConfiguration) throws(InletError) {
        try configuration.validate()
        let opening = try configuration.webSocket()
        let outbox = RoomOutbox(limit: configuration.unsentBytes)
        let servers = RoomServerList()
        let dispatcher = SignalingDispatcher(
            SignalingRouter(localID: configuration.id, instance: configuration.instance, hasPresence: true),
            iceServers: { await servers.current() }
        ) { envelope throws(SignalingFailure) in try outbox.append(envelope.json) }
        (self.dispatcher, self.outbox) = (dispatcher, outbox)
        let client = RoomClient(configuration, opening, dispatcher, outbox, servers)
        running = Task { await client.run() }
    }

    deinit {
        running.cancel()
        dispatcher.closed(nil)
    }

    /// The name by which others reach this side.
    public var localID: PeerID { dispatcher.localID }
    /// Whether this side is in the room now.
    public var isOpen: Bool { dispatcher.isOpen }
    /// The other members, ordered by name.
    public var presentPeers: [PeerID] { dispatcher.presentPeers }
    /// Returns the events from now on.
    public func events() -> AsyncStream<SignalingEvent> { dispatcher.events() }
    /// Returns the channel for one session with a peer, which need not be present yet.
    public func channel(to peer: PeerID) throws(InletError) -> any SignalingChannel {
        try dispatcher.channel(to: peer)
    }
    /// Sends a message about a call to a peer.
    public func send(_ message: CallMessage, to peer: PeerID) async throws(SignalingFailure) {
        try dispatcher.send(message, to: peer)
    }

    /// Returns the STUN and TURN servers that the room's server has sent, or an empty list after two seconds.
    public func iceServers() async -> [ICEServer] { await dispatcher.iceServers() }

    /// Sends waiting messages, leaves the room, and ends all channels and events. Takes at most three seconds.
    public func close() async {
        // Waiting messages are sent first; an attempt to connect is abandoned.
        if !outbox.finish() { running.cancel() }
        let late = Task { [running] in
            try? await Task.sleep(for: Self.closingLimit)
            running.cancel()
        }
        await running.value
        late.cancel()
        dispatcher.closed(nil)
    }
}
