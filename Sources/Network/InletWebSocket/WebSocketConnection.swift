import InletCore
import NIOCore
import NIOWebSocket

/// A message to the handler of an open WebSocket.
enum WebSocketOutgoing: Sendable {
    case message(WebSocketMessage)
    case closing(WebSocketClosing)
}

/// An open WebSocket. Puts the server's frames into the inbox as messages, answers pings, sends pings, and detects a
/// silent server. Confined to the channel's event loop.
final class WebSocketConnection: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketOutgoing
    typealias OutboundOut = WebSocketFrame

    private var assembler: WebSocketAssembler
    private let inbox: WebSocketInbox
    private let pingInterval: TimeAmount
    private var liveness: WebSocketLiveness
    private var isClosing = false
    private var ticking: Scheduled<Void>?
    /// The time that the server has to end the connection after the closing handshake.
    private static let lingering = TimeAmount.seconds(1)

    init(_ configuration: WebSocketConfiguration, _ inbox: WebSocketInbox) {
        assembler = WebSocketAssembler(
            mostBytes: configuration.mostMessageBytes, mostFragments: configuration.mostFragments)
        self.inbox = inbox
        pingInterval = .nanoseconds(max(1_000_000, configuration.pingInterval.wholeNanoseconds))
        liveness = WebSocketLiveness(
            interval: pingInterval, limit: .nanoseconds(configuration.silenceLimit.wholeNanoseconds), now: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) { scheduleTick(context) }

    func handlerRemoved(context: ChannelHandlerContext) {
        ticking?.cancel()
        ticking = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        liveness.noteHeard(at: .now())
        let outcome: WebSocketAssembler.Outcome
        do {
            outcome = try assembler.take(unwrapInboundIn(data))
        } catch {
            return violated(context, error)
        }
        switch outcome {
        case .incomplete, .pong: break
        case .message(let message):
            if inbox.append(message) { _ = context.channel.setOption(.autoRead, value: false) }
        case .ping(let content):
            // Only the last ping needs an answer (RFC 6455, section 5.5.3). A server that pings but does not read gets
            // no answer.
            if context.channel.isWritable { send(context, .pong, content) }
        case .closing(let closing):
            let isAnswer = isClosing
            if !isAnswer { sendClosing(context, code: closing.code, reason: "") }
            inbox.finish(.closed(closing))
            if isAnswer {
                context.close(promise: nil)
            } else {
                context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? NIOWebSocketError else {
            inbox.finish(
                .failed(InletError(.disconnected, "The WebSocket's connection broke. Connect again.", cause: error))
            )
            context.close(promise: nil)
            return
        }
        let isLong = if case .invalidFrameLength = error { true } else { false }
        violated(
            context,
            isLong
                ? .init(code: 1009, reason: "a message is too large")
                : .init(code: 1002, reason: "a control frame is fragmented or has more than 125 bytes"))
    }

    func channelInactive(context: ChannelHandlerContext) {
        inbox.finish(
            isClosing
                ? .closed(WebSocketClosing())
                : .failed(
                    InletError(.disconnected, "The server ended the WebSocket without a reason. Connect again.")))
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .message(.text(let text)): send(context, .text, Array(text.utf8), promise)
        case .message(.binary(let bytes)): send(context, .binary, bytes, promise)
        case .closing(let closing): sendClosing(context, code: closing.code, reason: closing.reason, promise)
        }
    }

    private func scheduleTick(_ context: ChannelHandlerContext) {
        ticking = context.eventLoop.assumeIsolated().scheduleTask(in: pingInterval) { [weak self] in
            self?.tick(context)
        }
    }

    private func tick(_ context: ChannelHandlerContext) {
        guard !liveness.isGone(at: .now(), isPaused: inbox.isPaused) else {
            inbox.finish(
                .failed(
                    InletError(.timedOut, "The server of the WebSocket answers no pings. Connect again.")))
            context.close(promise: nil)
            return
        }
        if context.channel.isWritable, !isClosing { send(context, .ping, []) }
        scheduleTick(context)
    }

    private func violated(_ context: ChannelHandlerContext, _ violation: WebSocketAssembler.Violation) {
        inbox.finish(
            .failed(
                InletError(
                    .malformedData, "The server of the WebSocket breaks the protocol: \(violation.reason).",
                    context: .init(operation: "WebSocket", nativeCode: Int32(violation.code)))))
        let promise = context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        promise.futureResult.whenComplete { _ in channel.close(promise: nil) }
        sendClosing(context, code: violation.code, reason: violation.reason, promise)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { context.close(promise: nil) }
    }

    private func sendClosing(
        _ context: ChannelHandlerContext, code: UInt16?, reason: String, _ promise: EventLoopPromise<Void>? = nil
    ) {
        guard !isClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        isClosing = true
        var content: [UInt8] = []
        if let code {
            content = [UInt8(code >> 8), UInt8(code & 0xFF)] + reason.utf8.prefix(123)
            // Text is cut between characters.
            while String(validating: content[2...], as: UTF8.self) == nil { content.removeLast() }
        }
        send(context, .connectionClose, content, promise)
    }

    private func send(
        _ context: ChannelHandlerContext, _ opcode: WebSocketOpcode, _ content: [UInt8],
        _ promise: EventLoopPromise<Void>? = nil
    ) {
        let frame = WebSocketFrame(
            fin: true, opcode: opcode, maskKey: .random(), data: ByteBuffer(bytes: content))
        context.writeAndFlush(wrapOutboundOut(frame), promise: promise)
    }
}
