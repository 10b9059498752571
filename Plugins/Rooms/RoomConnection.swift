import InletCore
import InletRTC
import InletSystem
import NIOCore
import NIOWebSocket

/// The WebSocket of one member. Confined to its channel's thread.
final class RoomConnection: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// The events of a connection.
    enum Event {
        /// Frames may be sent.
        case opened
        /// Half of the lifetime of the member's relay credentials has passed.
        case renewalDue
        /// A text has arrived.
        case message([UInt8])
        /// The member violated a rule.
        case broken(RoomRefusal.Reason, String)
        /// The connection has ended. This is the last event.
        case ended
    }

    private let limits: RoomLimits
    private let renewal: Duration?
    private let tell: (Event) -> Void
    private var context: ChannelHandlerContext?
    private var liveness: SignalingLiveness
    /// Limits pings and pongs like the directory limits messages.
    private var rate: AdmissionRate
    private var timer: Scheduled<Void>?
    private var probing: Scheduled<Void>?
    private var renewing: Scheduled<Void>?
    private var isEnding = false
    /// The time limit for a member's response to the close frame.
    private static let farewell = TimeAmount.seconds(1)

    /// - Parameter renewal: the interval of ``Event/renewalDue``; nil for never.
    init(_ limits: RoomLimits, renewal: Duration?, tell: @escaping (Event) -> Void) {
        (self.limits, self.renewal) = (limits, renewal)
        self.tell = tell
        liveness = SignalingLiveness(interval: limits.pingInterval, limit: limits.silence, at: .now)
        rate = limits.rate
    }

    /// The handlers of a connection once those of HTTP have been removed.
    func handlers() -> [any ChannelHandler] {
        [
            ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: limits.messageBytes)), WebSocketFrameEncoder(),
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 256,
                maxAccumulatedFrameSize: limits.messageBytes),
            self,
        ]
    }

    // MARK: For the hub

    /// Sends a text.
    ///
    /// - Returns: whether the member reads fast enough.
    func send(_ text: String) -> Bool {
        guard let context, !isEnding else { return true }
        guard context.channel.isWritable else { return false }
        write(.text, ByteBuffer(string: text))
        return true
    }

    /// Sends the reason and closes the connection.
    func refuse(_ refusal: RoomRefusal) {
        guard let context, !isEnding else { return }
        if context.channel.isWritable {
            write(.text, ByteBuffer(string: RoomMessage.refused(refusal).json))
            var close = ByteBuffer()
            close.writeInteger(refusal.code)
            // A control frame has at most 125 bytes (RFC 6455, 5.5).
            close.writeString(refusal.text.sanitized(limit: 120))
            write(.connectionClose, close)
        }
        isEnding = true
        _ = context.eventLoop.assumeIsolated().scheduleTask(in: Self.farewell) { context.close(promise: nil) }
    }

    /// Closes the connection unless the member sends something within the limit.
    func probe(within limit: Duration) {
        guard let context, !isEnding, probing == nil else { return }
        write(.ping, ByteBuffer())
        probing = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) {
            context.close(promise: nil)
        }
    }

    // MARK: The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let mark = ChannelOptions.Types.WriteBufferWaterMark(
            low: max(1, limits.unsentBytes / 2), high: max(1, limits.unsentBytes))
        try? context.channel.syncOptions?.setOption(.writeBufferWaterMark, value: mark)
        // Runs after HTTP's handlers have been removed.
        context.eventLoop.assumeIsolated().execute { [self] in
            guard self.context != nil else { return }
            tell(.opened)
            schedule()
            scheduleRenewal()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isEnding else { return context.close(promise: nil) }
        tell(.broken(.malformed, "A frame is malformed or larger than \(limits.messageBytes) bytes."))
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        liveness.heard(at: .now)
        probing?.cancel()
        probing = nil
        guard !isEnding else {
            if frame.opcode == .connectionClose { context.close(promise: nil) }
            return
        }
        // Clients must mask frames, so that proxies do not mistake data for a request (RFC 6455, 5.1).
        guard frame.maskKey != nil else {
            return tell(.broken(.malformed, "Client frames must be masked (RFC 6455, 5.1)."))
        }
        switch frame.opcode {
        case .text: tell(.message(Array(buffer: frame.unmaskedData)))
        case .binary: tell(.broken(.malformed, "Messages are texts."))
        case .ping, .pong:
            guard rate.wait(at: .now) == nil else { return tell(.broken(.flood, limits.floodText)) }
            rate.admit()
            // A later pong also answers earlier pings (RFC 6455, 5.5.3).
            if frame.opcode == .ping, context.channel.isWritable { write(.pong, frame.unmaskedData) }
        case .connectionClose:
            isEnding = true
            write(.connectionClose, frame.unmaskedData)
            context.close(promise: nil)
        default: break
        }
    }

    private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        context?.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: data)), promise: nil)
    }

    private func schedule() {
        let wait = max(.milliseconds(1), liveness.deadline - .now)
        timer = context?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(wait)) { [weak self] in
            guard let self, let context else { return }
            switch liveness.check(at: .now) {
            case .wait: break
            case .ping: write(.ping, ByteBuffer())
            case .gone: return context.close(promise: nil)
            }
            schedule()
        }
    }

    private func scheduleRenewal() {
        guard let renewal else { return }
        renewing = context?.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(renewal)) { [weak self] in
            guard let self, context != nil else { return }
            tell(.renewalDue)
            scheduleRenewal()
        }
    }

    private func end() {
        guard context != nil else { return }
        context = nil
        timer?.cancel()
        probing?.cancel()
        renewing?.cancel()
        tell(.ended)
    }
}
