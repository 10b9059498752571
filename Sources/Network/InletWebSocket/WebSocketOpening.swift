import InletCore
import NIOCore
import NIOWebSocket
import Synchronization

/// The outcome of connecting, set once by the first of the connection, the deadline and a cancellation. Safe from any
/// thread.
final class WebSocketOpeningOutcome: Sendable {
    /// An open WebSocket.
    struct Opened: Sendable {
        var channel: any Channel
        var subprotocol: String?
    }
    typealias Outcome = Result<Opened, InletError>

    private struct State {
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
        var channel: (any Channel)?
    }

    private let state = Mutex(State())

    func begin(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    /// Records the connection, which is closed with a failure.
    func note(_ channel: any Channel) {
        let hasFailed = state.withLock { state in
            state.channel = channel
            if case .failure = state.outcome { return true }
            return false
        }
        if hasFailed { channel.close(promise: nil) }
    }

    /// Records the outcome; later ones are ignored.
    ///
    /// - Returns: whether the outcome is the first.
    @discardableResult func end(_ outcome: Outcome) -> Bool {
        let (isFirst, continuation, channel) = state.withLock { state in
            let isFirst = state.outcome == nil
            if isFirst { state.outcome = outcome }
            return (isFirst, state.continuation.take(), state.channel)
        }
        if isFirst, case .failure = outcome { channel?.close(promise: nil) }
        continuation?.resume(returning: outcome)
        return isFirst
    }
}

/// Sends the request that opens a WebSocket, reads the response, and replaces itself by the handlers of frames.
/// Confined to the channel's event loop.
final class WebSocketOpening: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var handshake: WebSocketHandshake
    private let configuration: WebSocketConfiguration
    private let inbox: WebSocketInbox
    private let outcome: WebSocketOpeningOutcome
    private var isWaitingForBody = false
    /// The time limit for the body of a refusal.
    private static let bodyLimit = TimeAmount.seconds(1)

    init(_ configuration: WebSocketConfiguration, _ inbox: WebSocketInbox, _ outcome: WebSocketOpeningOutcome) {
        handshake = WebSocketHandshake(configuration, key: WebSocketKey.make())
        self.configuration = configuration
        self.inbox = inbox
        self.outcome = outcome
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: handshake.request)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            switch try handshake.take(unwrapInboundIn(data).readableBytesView) {
            case .incomplete: waitForBody(context)
            case .opened(let subprotocol, let rest): try open(context, subprotocol, rest)
            }
        } catch let error as InletError {
            outcome.end(.failure(error))
        } catch {
            outcome.end(.failure(InletError(wrapping: error, operation: "opening a WebSocket")))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        outcome.end(
            .failure(
                handshake.ended(
                    InletError(
                        .disconnected, "The server ended the connection before the WebSocket was open. Check the port.")
                )))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        outcome.end(
            .failure(
                InletError(
                    .disconnected, "The connection broke before the WebSocket was open. Try again.", cause: error)))
    }

    /// Limits the wait for the body of a refusal.
    private func waitForBody(_ context: ChannelHandlerContext) {
        guard handshake.isRefused, !isWaitingForBody else { return }
        isWaitingForBody = true
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.bodyLimit) { [weak self] in
            guard let self else { return }
            outcome.end(.failure(handshake.ended(InletError(.timedOut, "The server did not answer in time."))))
        }
    }

    private func open(_ context: ChannelHandlerContext, _ subprotocol: String?, _ rest: [UInt8]) throws {
        let pipeline = context.pipeline.syncOperations
        let decoder = WebSocketFrameDecoder(maxFrameSize: configuration.mostMessageBytes)
        let frames = ByteToMessageHandler(decoder)
        let connection = WebSocketConnection(configuration, inbox)
        try pipeline.addHandlers([frames, WebSocketFrameEncoder(), connection], position: .after(self))
        // This precedes reading the rest, which may already contain the end.
        guard outcome.end(.success(.init(channel: context.channel, subprotocol: subprotocol))) else {
            context.close(promise: nil)
            return
        }
        if !rest.isEmpty { context.fireChannelRead(NIOAny(ByteBuffer(bytes: rest))) }
        pipeline.removeHandler(context: context, promise: nil)
    }
}
