import NIOCore

/// Limits what a client sends: closes a connection whose request is too large, and discards what arrives after the last
/// response.
///
/// Runs before the parser. Confined to its channel's thread.
final class ReceivedBytes: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    /// The most bytes of a request's head.
    static let headLimit = 16_384
    /// The most bytes discarded after the last response. Closing a socket with unread bytes may make the client lose
    /// the response (RFC 9112, 9.6).
    private static let swallowLimit = 1_048_576
    private let limit: Int
    private var count = 0
    private var isSwallowing = false
    /// Called once, before the first byte of the next request is counted.
    var beginRequest: (() -> Void)?

    /// - Parameter limit: the most bytes of a request, including its head and its body.
    init(limit: Int) { self.limit = limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if count == 0, let beginRequest {
            self.beginRequest = nil
            beginRequest()
        }
        count += unwrapInboundIn(data).readableBytes
        guard count <= (isSwallowing ? Self.swallowLimit : limit) else { return context.close(promise: nil) }
        if !isSwallowing { context.fireChannelRead(data) }
    }

    /// Restarts the count after a request has been answered.
    func reset() { count = 0 }

    /// Discards everything that arrives from now on.
    func swallow() { (isSwallowing, count) = (true, 0) }
}
