import FoundationEssentials
import InletCore
import InletTLS
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A request and the status of its response, with a time limit. Follows no redirects, and does not read the response's
/// body.
final class StatusExchange: Sendable {
    /// A request and its destination.
    struct Request: Sendable {
        var address: WebhookAddress
        /// The headers in addition to those of every request.
        var headers: [(String, String)] = []
        /// The body of a POST request, which is JSON; nil for a GET request.
        var body: String?
        /// The file of certificate authorities; nil for the system's.
        var authorities: String?
        /// Whether the server's certificate is checked. The default is true.
        var isVerified = true
        /// The time limit, from connecting to the status of the response.
        var limit: Duration
    }

    private struct State {
        var result: Result<Int, InletError>?
        var continuation: CheckedContinuation<Result<Int, InletError>, Never>?
        /// The connections that are being made or in use: one for each address of the server that is tried.
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    private let state = Mutex(State())

    init() {}

    /// Sends a request and waits for the status. Supports cancellation.
    ///
    /// - Throws: ``InletError`` if no response arrives in time.
    static func send(_ request: Request) async throws(InletError) -> Int {
        let exchange = StatusExchange()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let limit = TimeAmount.nanoseconds(request.limit.wholeNanoseconds)
        let deadline = loop.scheduleTask(in: limit) {
            exchange.end(.failure(InletError(.timedOut, "The server did not answer in time.")))
        }
        defer { deadline.cancel() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                exchange.begin(continuation)
                exchange.start(request, loop)
            }
        } onCancel: {
            exchange.end(.failure(InletError(.cancelled, "The request was cancelled.")))
        }
        return try result.get()
    }

    private func begin(_ continuation: CheckedContinuation<Result<Int, InletError>, Never>) {
        let result = state.withLock { state in
            if state.result == nil { state.continuation = continuation }
            return state.result
        }
        if let result { continuation.resume(returning: result) }
    }

    /// Sets the result. Later results are ignored. The first one closes all connections.
    func end(_ result: Result<Int, InletError>) {
        let (continuation, channels) = state.withLock { state in
            state.result = state.result ?? result
            defer { state.channels = [:] }
            return (state.continuation.take(), state.channels.values)
        }
        for channel in channels { channel.close(promise: nil) }
        continuation?.resume(returning: result)
    }

    /// Adds a connection, or closes it immediately if the exchange is over. There may be several: if a server has
    /// several addresses, the next one is tried before the first has failed (RFC 8305).
    func note(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        let isOver = state.withLock { state in
            if state.result == nil { state.channels[key] = channel }
            return state.result != nil
        }
        guard !isOver else { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in self.state.withLock { $0.channels[key] = nil } }
    }

    /// The number of connections that are being made or in use.
    var openCount: Int { state.withLock { $0.channels.count } }

    private func start(_ request: Request, _ loop: any EventLoop) {
        let address = request.address
        var fields: HTTPHeaders = [
            "host": address.authority, "user-agent": "inlet/\(InletVersion.current)", "connection": "close",
        ]
        if let body = request.body {
            fields.add(contentsOf: ["content-type": "application/json", "content-length": "\(body.utf8.count)"])
        }
        if let user = address.user {
            fields.add(name: "authorization", value: "Basic \(Data(user.utf8).base64EncodedString())")
        }
        for (name, value) in request.headers { fields.add(name: name, value: value) }
        let head = HTTPRequestHead(
            version: .http1_1, method: request.body == nil ? .GET : .POST, uri: address.target, headers: fields)
        var tls = TLSClientSettings()
        tls.authorities = request.authorities
        tls.authoritiesOption = "ca:"
        tls.isVerified = request.isVerified
        tls.limit = request.limit
        ClientBootstrap(group: loop)
            .connectTimeout(.nanoseconds(request.limit.wholeNanoseconds))
            .channelInitializer { [tls] channel in
                self.note(channel)
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if address.isSecure {
                        let handler = try TLSClientHandler(host: address.host, tls) { result in
                            if case .failure(let error) = result { self.end(.failure(error)) }
                        }
                        try pipeline.addHandler(handler)
                    }
                    try pipeline.addHTTPClientHandlers()
                    let body = request.body.map { ByteBuffer(string: $0) }
                    try pipeline.addHandler(StatusExchangeHandler(head, body, self))
                }
            }
            .connect(host: address.host, port: address.port)
            .whenFailure { self.end(.failure(Self.error($0))) }
    }

    /// Returns the error that prevented a connection.
    private static func error(_ error: any Error) -> InletError {
        if let error = error as? InletError { return error }
        let failure = error as? NIOConnectionError
        if let failure, failure.connectionErrors.isEmpty, failure.dnsAError != nil || failure.dnsAAAAError != nil {
            return InletError(
                .hostNotFound, "The name service does not know the server. Check its spelling, and that DNS works.")
        }
        return InletError(
            .disconnected, "The server cannot be reached. Check its address and port, and that it runs.", cause: error)
    }
}

/// Sends a request when the connection has been made, and passes on the response's status. Confined to the channel's
/// event loop.
private final class StatusExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPRequestHead
    private let body: ByteBuffer?
    private let exchange: StatusExchange

    init(_ head: HTTPRequestHead, _ body: ByteBuffer?, _ exchange: StatusExchange) {
        (self.head, self.body, self.exchange) = (head, body, exchange)
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        exchange.end(.success(Int(head.status.code)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        exchange.end(.failure(InletError(.malformedData, "The server's answer is not HTTP.", cause: error)))
    }

    func channelInactive(context: ChannelHandlerContext) {
        exchange.end(.failure(InletError(.disconnected, "The server ended the connection before it answered.")))
    }
}
