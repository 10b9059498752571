import NIOCore

/// Bounds what a client sends: closes a connection whose request is larger than any that is answered, and swallows what
/// comes after the last answer.
///
/// Stands before the parser. Confined to its channel's thread.
final class ReceivedBytes: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// Of a request's head.
    static let headLimit = 16_384
    /// After the last answer. A socket that is closed with bytes unread takes the answer back (RFC 9112, 9.6).
    private static let swallowLimit = 1_048_576
    private let limit: Int
    private var count = 0
    private var isSwallowing = false

    /// - Parameter limit: the most bytes of a request with its head and its body.
    init(limit: Int) { self.limit = limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        count += unwrapInboundIn(data).readableBytes
        guard count <= (isSwallowing ? Self.swallowLimit : limit) else { return context.close(promise: nil) }
        if !isSwallowing { context.fireChannelRead(data) }
    }

    /// A request was answered; the next one is counted anew.
    func reset() { count = 0 }

    /// Nothing that comes from now on is read by anybody.
    func swallow() { (isSwallowing, count) = (true, 0) }
}
