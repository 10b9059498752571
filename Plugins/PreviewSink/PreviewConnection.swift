import InletCore
import InletHTTP
import NIOCore
import NIOHTTP1

/// Answers the requests of one connection. Confined to its channel's thread.
final class PreviewConnection: ChannelInboundHandler, PictureViewer {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// How long a connection may be without a whole request.
    private static let idleLimit = TimeAmount.seconds(15)
    private static let boundary = "inlet-picture"

    private let configuration: PreviewSinkConfiguration
    private let pages: PreviewPages
    private let hub: PictureHub
    private let limit: RequestSizeLimit
    private var context: ChannelHandlerContext?
    private var request: HTTPRequestHead?
    private var hasBody = false
    private var watching = Watching.nothing
    /// Closes the connection when the client takes too long, whatever it is to do.
    private var deadline: Scheduled<Void>?
    private var isWriting = false

    private enum Watching { case nothing, snapshot, stream }

    init(_ configuration: PreviewSinkConfiguration, pages: PreviewPages, hub: PictureHub, limit: RequestSizeLimit) {
        self.configuration = configuration
        self.pages = pages
        self.hub = hub
        self.limit = limit
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelActive(context: ChannelHandlerContext) {
        expect(within: Self.idleLimit)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        if watching != .nothing { hub.remove(self) }
        watching = .nothing
        self.context = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // A second request before the first is answered. No browser sends one so.
            guard request == nil else { return context.close(promise: nil) }
            request = head
            // Taken for a body before any of it comes.
            hasBody =
                head.headers.contains(name: "transfer-encoding")
                || (head.headers.first(name: "content-length") ?? "0") != "0"
            if hasBody { finish(with: .text("A body is not taken here.", .payloadTooLarge)) }
        case .body: break
        case .end:
            limit.reset()
            if !hasBody { answer() }
        }
    }

    private func answer() {
        guard let request else { return }
        guard request.method == .GET || request.method == .HEAD else {
            return finish(with: .text("Only GET and HEAD are answered here.", .methodNotAllowed))
        }
        switch pages.answer(to: request) {
        case .page(let page): finish(with: page)
        case .snapshot where request.method == .GET: beginSnapshot()
        case .stream where request.method == .GET: beginStream()
        case .snapshot, .stream: finish(with: PreviewPage(type: "image/jpeg", body: ByteBuffer()))
        }
    }

    private func finish(with page: PreviewPage) {
        guard let context, let request else { return }
        var headers = page.headers
        let staysOpen = request.isKeepAlive && !hasBody
        headers.replaceOrAdd(name: "connection", value: staysOpen ? "keep-alive" : "close")
        let head = HTTPResponseHead(version: .http1_1, status: page.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(page.body))), promise: nil) }
        self.request = nil
        expect(within: TimeAmount(configuration.patience))
        let done = context.eventLoop.makePromise(of: Void.self)
        done.futureResult.assumeIsolated().whenComplete { _ in
            guard let context = self.context else { return }
            if staysOpen { self.expect(within: Self.idleLimit) } else { context.close(promise: nil) }
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
    }

    // MARK: Pictures

    private func beginSnapshot() {
        watching = .snapshot
        hub.add(self)
        guard let context else { return }
        deadline?.cancel()
        // A source that has stalled has no picture to give.
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(configuration.patience)) {
            guard self.watching == .snapshot else { return }
            self.watching = .nothing
            self.hub.remove(self)
            self.finish(with: .text("There is no picture now.", .serviceUnavailable))
        }
    }

    private func beginStream() {
        guard let context else { return }
        var headers = PreviewPage.commonHeaders
        headers.add(name: "content-type", value: "multipart/x-mixed-replace; boundary=\(Self.boundary)")
        headers.add(name: "connection", value: "close")
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(
            wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "--\(Self.boundary)\r\n")))), promise: nil)
        deadline?.cancel()
        watching = .stream
        hub.add(self)
    }

    func show(_ jpeg: ByteBuffer) -> Bool {
        switch watching {
        case .nothing: return false
        case .snapshot:
            watching = .nothing
            finish(with: PreviewPage(type: "image/jpeg", body: jpeg))
            return false
        case .stream:
            // Still at the last picture: this one is not for this client. Nothing queues up.
            if !isWriting { sendPart(jpeg) }
            return true
        }
    }

    private func sendPart(_ jpeg: ByteBuffer) {
        guard let context else { return }
        isWriting = true
        expect(within: TimeAmount(configuration.patience))
        let head = "content-type: image/jpeg\r\ncontent-length: \(jpeg.readableBytes)\r\n\r\n"
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: head)))), promise: nil)
        // All clients share the picture's memory.
        context.write(wrapOutboundOut(.body(.byteBuffer(jpeg))), promise: nil)
        let done = context.eventLoop.makePromise(of: Void.self)
        done.futureResult.assumeIsolated().whenComplete { _ in
            self.isWriting = false
            self.deadline?.cancel()
        }
        // The next boundary at once: browsers show a picture when they see where it ends.
        context.writeAndFlush(
            wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "\r\n--\(Self.boundary)\r\n")))), promise: done)
    }

    /// Closes the connection unless something else is expected by then.
    private func expect(within time: TimeAmount) {
        deadline?.cancel()
        deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: time) { self.context?.close(promise: nil) }
    }
}
