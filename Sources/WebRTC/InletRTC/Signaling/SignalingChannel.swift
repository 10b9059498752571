public import InletCore

/// The channel over which two peers exchange messages before media flows: a WebSocket, a message broker, a file, or any
/// other transport of an application.
///
/// It may lose, duplicate, delay and reorder messages, and either peer may be first: sessions tolerate that. Safe from
/// any thread.
public protocol SignalingChannel: Sendable {
    /// The peer's messages, in order of arrival. Read by one session. The stream ends when nothing more can arrive; a
    /// session that is connected then continues.
    var incoming: AsyncStream<SignalingMessage> { get }

    /// Returns the STUN and TURN servers that signaling provides, in addition to the configured ones. Called before
    /// each flow, for at most a second or two. Empty by default.
    func iceServers() async -> [ICEServer]

    /// Sends a message to the peer. Messages of a session are sent one after the other. The implementation must apply
    /// its own deadline.
    ///
    /// - Throws: ``SignalingFailure`` if the message did not reach the peer.
    func send(_ message: SignalingMessage) async throws(SignalingFailure)

    /// Called when the session has ended; nothing more is sent.
    func close() async
}

extension SignalingChannel {
    /// Returns no servers.
    public func iceServers() async -> [ICEServer] { [] }
    /// Does nothing.
    public func close() async {}
}

/// The reason why a message did not reach the peer.
public struct SignalingFailure: Error, Sendable {
    /// The error, for users and programs.
    public var error: InletError
    /// The least wait before another flow begins; nil if a retry is pointless, so that the session ends.
    public var retryAfter: Duration?

    public init(_ error: InletError, retryAfter: Duration? = .zero) {
        self.error = error
        self.retryAfter = retryAfter
    }
}
