public import InletCore

/// The way on which two peers talk before media flows: a WebSocket, a message broker, a file, whatever an application
/// has.
///
/// It may lose, double, delay and reorder messages, and either peer may come first: sessions put up with that. Safe
/// from any thread.
public protocol SignalingChannel: Sendable {
    /// What the peer sends, in the order in which it comes. Read by one session. It ends when nothing can come any
    /// more; a session that is connected then goes on.
    var incoming: AsyncStream<SignalingMessage> { get }

    /// STUN and TURN servers that signaling knows of, besides those that are configured. Asked before each flow, for a
    /// second or two at most. The default is none.
    func iceServers() async -> [ICEServer]

    /// Sends a message to the peer. Messages of a session are sent one after the other. It must end by a deadline of
    /// its own.
    ///
    /// - Throws: ``SignalingFailure`` where the message did not get there.
    func send(_ message: SignalingMessage) async throws(SignalingFailure)

    /// The session is over; nothing is sent any more.
    func close() async
}

extension SignalingChannel {
    /// None.
    public func iceServers() async -> [ICEServer] { [] }
    /// Nothing.
    public func close() async {}
}

/// Why a message did not get to the peer.
public struct SignalingFailure: Error, Sendable {
    /// What happened, for people and programs.
    public var error: InletError
    /// The least wait before another flow begins; nil where trying again is pointless, so that the session ends.
    public var retryAfter: Duration?

    public init(_ error: InletError, retryAfter: Duration? = .zero) {
        self.error = error
        self.retryAfter = retryAfter
    }
}
