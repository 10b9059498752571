import InletCore
package import NIOCore
package import NIOHTTP1

/// A connection of a server: reads a request, has a service answer it, writes the response, and only then reads the
/// next request. Confined to its channel's thread.
///
/// While a request is answered, nothing is read. A client that sends without reading therefore fills its own buffers
/// and uses no memory here. Its disconnection is still noticed. Every step of a client has a deadline.
package final class HTTPConnection: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias OutboundIn = Never
    package typealias OutboundOut = HTTPServerResponsePart

    fileprivate enum Phase {
        /// Waiting for a request's head, or for the end of a request without a body.
        case waiting
        /// Receiving a body of at most `limit` bytes.
        case receiving(HTTPRequest, ByteBuffer, limit: Int)
        /// A decision about a request is being delayed.
        case delaying
        /// The response is being made.
        case answering
        /// The response is being written.
        case writing
        /// Parts are written for as long as the client is connected.
        case streaming
        /// The connection speaks another protocol.
        case upgraded
        /// The last response was written.
        case ending
    }

    private let gate: HTTPGate
    private let id: ConnectionLedger.ID
    private let limits: Limits
    private let received: ReceivedBytes
    private let makeService: (HTTPConnection) -> any HTTPService
    private var service: (any HTTPService)?
    private var context: ChannelHandlerContext?
    private var phase = Phase.waiting {
        didSet { gate.set(phase.activity, of: id) }
    }
    /// The head of a request that is not complete yet.
    private var head: HTTPRequest?
    /// Whether the request that is being answered is HEAD.
    private var isHEAD = false
    /// Whether the connection is closed after the response.
    private var closes = false
    private var isWriting = false
    /// Whether a read was requested while reading is paused.
    private var wantsRead = false
    private var deadline: Scheduled<Void>?
    private let proxy: ProxyRule
    /// The client of the latest request: the peer, or a client of a trusted proxy. Requests are counted against it.
    package private(set) var client: ClientAddress
    /// The path below which a proxy serves the latest request.
    private var prefix = ""

    init(
        gate: HTTPGate, id: ConnectionLedger.ID, client: ClientAddress, proxy: ProxyRule = ProxyRule(), limits: Limits,
        received: ReceivedBytes, makeService: @escaping (HTTPConnection) -> any HTTPService
    ) {
        self.gate = gate
        self.id = id
        (self.client, self.proxy) = (client, proxy)
        self.limits = limits
        self.received = received
        self.makeService = makeService
    }

    // MARK: The channel

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        service = makeService(self)
    }

    package func channelActive(context: ChannelHandlerContext) {
        expect(within: limits.request)
        context.fireChannelActive()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        let isUnderWay = phase.isServed
        phase = .ending
        gate.remove(id)
        if isUnderWay { service?.abandon() }
        (self.context, service) = (nil, nil)
        context.fireChannelInactive()
    }

    package func read(context: ChannelHandlerContext) {
        switch phase {
        case .waiting, .receiving, .upgraded, .ending: context.read()
        case .delaying, .answering, .writing, .streaming: wantsRead = true
        }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The parser closes the channel when this returns.
        if case .waiting = phase, let error = error as? HTTPParserError {
            closes = true
            let isLong = error == .headerOverflow
            write(.text("Malformed HTTP request.", isLong ? .requestHeaderFieldsTooLarge : .badRequest))
        }
        context.close(promise: nil)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), phase) {
        case (.head(let head), .waiting): begin(head)
        case (.body(var part), .receiving(let request, var body, let limit)):
            guard body.readableBytes + part.readableBytes <= limit else {
                return refuse(Self.tooLarge(limit))
            }
            body.writeBuffer(&part)
            phase = .receiving(request, body, limit: limit)
        case (.end, .receiving(let request, let body, _)):
            phase = .answering
            if let service { take(service.finish(request, body: body)) }
        case (.end, .waiting):
            guard let head else { return }
            self.head = nil
            phase = .answering
            decide(about: head)
        // Another request arrived before the first was answered. No browser does this. A client that does must send it
        // again (RFC 9112, 9.3.2).
        case (.head, _): closes = true
        case (.body, _), (.end, _): break
        }
    }

    // MARK: Requests

    private func begin(_ head: HTTPRequestHead) {
        isHEAD = head.method == .HEAD
        closes = !head.isKeepAlive
        guard let request = HTTPRequest(head, proxy: proxy) else {
            phase = .answering
            return refuse(.text("The address contains bytes other than ASCII.", .badRequest))
        }
        prefix = request.prefix
        if !proxy.trusted.isEmpty { client = proxy.client(of: request, from: context?.remoteAddress) }
        guard request.hasBody else {
            self.head = request
            return
        }
        phase = .answering
        decide(about: request)
    }

    private func step(_ request: HTTPRequest, isKnown: Bool, _ service: any HTTPService) -> HTTPStep {
        if request.isForIcon { return .answer(.icon) }
        // Relative URLs on a page are resolved from the slash.
        if request.path.isEmpty {
            return .answer(HTTPAnswer(.permanentRedirect, headers: ["location": "/\(request.queryText)"]))
        }
        return service.begin(request, isKnown: isKnown)
    }

    private func decide(about request: HTTPRequest) {
        guard let service else { return }
        let isPublic = request.isForIcon || request.path.isEmpty || service.isPublic(request)
        let isProxied = proxy.trusts(context?.remoteAddress)
        switch gate.decide(request, from: client, of: id, isPublic: isPublic, isProxied: isProxied) {
        case .served(let isKnown, after: .zero): take(step(request, isKnown: isKnown, service), request)
        case .served(let isKnown, let time):
            delay(by: time) { connection in
                guard let service = connection.service else { return }
                connection.take(connection.step(request, isKnown: isKnown, service), request)
            }
        case .refused(let given, let time):
            let answer = given.status == .unauthorized ? service.unauthorized(request, given) : given
            if time == .zero { refuse(answer) } else { delay(by: time) { $0.refuse(answer) } }
        }
    }

    private func delay(by time: TimeAmount, _ action: @escaping (HTTPConnection) -> Void) {
        phase = .delaying
        schedule(in: time) { connection in
            connection.phase = .answering
            action(connection)
        }
    }

    private func take(_ step: HTTPStep, _ request: HTTPRequest? = nil) {
        if case .read(let limit) = step, let request, request.hasBody {
            guard (request.length ?? 0) <= limit else { return refuse(Self.tooLarge(limit)) }
            if request.awaitsContinue { writeContinue() }
            phase = .receiving(request, ByteBuffer(), limit: limit)
            expect(within: limits.request)
            return resumeReading()
        }
        // A body that is not read now is never read.
        if let request, request.hasBody { closes = true }
        switch step {
        case .answer(let answer): say(answer)
        case .read: refuse(.text("The body is missing.", .badRequest))
        case .later(let time, let otherwise):
            schedule(in: time) { connection in
                guard case .answering = connection.phase else { return }
                connection.service?.abandon()
                connection.say(otherwise)
            }
        case .stream(let headers): stream(headers)
        case .upgrade(let headers, let makeHandlers): upgrade(headers, makeHandlers)
        }
    }

    /// Answers a request whose response was deferred. Does nothing if that request is over.
    package func answer(_ answer: HTTPAnswer) {
        guard case .answering = phase else { return }
        say(answer)
    }

    /// Begins a stream in answer to a request whose response was deferred. Does nothing if that request is over.
    package func beginStream(_ headers: HTTPHeaders, status: HTTPResponseStatus = .ok) {
        guard case .answering = phase else { return }
        stream(headers, status)
    }

    /// Returns the header that sets a cookie for a browser that presented the token; nil if the request presented none.
    ///
    /// - Parameter takesBearer: whether a bearer token counts if the query has no token.
    package func cookieHeader(for request: HTTPRequest, takesBearer: Bool = false) -> String? {
        gate.cookieHeader(for: request, takesBearer: takesBearer)
    }

    /// Returns the widest scope among the request's tokens; nil if it presents none or none is required.
    package func scope(of request: HTTPRequest) -> AccessScope? { gate.scope(of: request) }

    /// Returns the name of the request's token; nil if it presents none or the token has no name.
    package func tokenName(of request: HTTPRequest) -> String? { gate.tokenName(of: request) }

    // MARK: Answers

    /// Asks a client that sent `Expect: 100-continue` to send the request's body (RFC 9110, 10.1.1). If the body is not
    /// wanted, such a client gets the final response instead.
    private func writeContinue() {
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context?.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    private static func tooLarge(_ limit: Int) -> HTTPAnswer {
        .text("The body has more than \(limit) bytes.", .payloadTooLarge)
    }

    private func refuse(_ answer: HTTPAnswer) {
        closes = true
        say(answer)
    }

    private func say(_ answer: HTTPAnswer) {
        guard let context else { return }
        closes = closes || answer.closes
        phase = .writing
        expect(within: limits.answer)
        let done = write(answer)
        done?.assumeIsolated().whenComplete { [self] _ in
            guard case .writing = phase, self.context === context else { return }
            if closes { return end() }
            received.reset()
            phase = .waiting
            expect(within: limits.idle)
            received.beginRequest = { [weak self] in
                guard let self, case .waiting = phase else { return }
                expect(within: limits.request)
            }
            resumeReading()
        }
    }

    /// - Returns: a future that is fulfilled when the response has been written; nil if the channel is closed.
    @discardableResult private func write(_ answer: HTTPAnswer) -> EventLoopFuture<Void>? {
        guard let context else { return nil }
        var headers = HTTPAnswer.commonHeaders
        headers.add(contentsOf: answer.headers)
        if !prefix.isEmpty, let place = headers.first(name: "location"), place.hasBytePrefix("/") {
            headers.replaceOrAdd(name: "location", value: prefix + place)
        }
        let mayHaveBody = answer.status.mayHaveResponseBody
        // The response to HEAD may state the length that the response to GET would have.
        if mayHaveBody, !headers.contains(name: "content-length") {
            headers.add(name: "content-length", value: "\(answer.body.readableBytes)")
        }
        headers.add(name: "connection", value: closes ? "close" : "keep-alive")
        let head = HTTPResponseHead(version: .http1_1, status: answer.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if mayHaveBody, !isHEAD { context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil) }
        return context.writeAndFlush(wrapOutboundOut(.end(nil)))
    }

    private func stream(_ headers: HTTPHeaders, _ status: HTTPResponseStatus = .ok) {
        guard let context else { return }
        phase = .streaming
        deadline?.cancel()
        var all = HTTPAnswer.commonHeaders
        all.add(contentsOf: headers)
        // nginx and other proxies would buffer the response, which delays a stream.
        all.add(name: "x-accel-buffering", value: "no")
        all.add(name: "connection", value: "close")
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: all)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    /// Sends a part of a stream unless the previous part is still being sent, so nothing is queued.
    package func send(_ parts: [ByteBuffer]) {
        guard let context, case .streaming = phase, !isWriting else { return }
        isWriting = true
        expect(within: limits.answer)
        let done = context.eventLoop.makePromise(of: Void.self)
        done.futureResult.assumeIsolated().whenComplete { [self] _ in
            isWriting = false
            guard case .streaming = phase else { return }
            deadline?.cancel()
            service?.didSend()
        }
        for part in parts.dropLast() { context.write(wrapOutboundOut(.body(.byteBuffer(part))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(parts.last ?? ByteBuffer()))), promise: done)
    }

    /// Ends a stream by closing the connection. Does nothing if no stream is under way.
    package func endStream() {
        if case .streaming = phase { context?.close(promise: nil) }
    }

    /// Answers with status 101 and hands the connection to other handlers.
    private func upgrade(_ headers: HTTPHeaders, _ makeHandlers: () -> [any ChannelHandler]) {
        guard let context else { return }
        phase = .upgraded
        deadline?.cancel()
        let head = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        let (channel, pipeline) = (context.channel, context.pipeline.syncOperations)
        do {
            try pipeline.addHandlers(makeHandlers(), position: .after(self))
            let encoder = try pipeline.context(handlerType: HTTPResponseEncoder.self)
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let count = try pipeline.context(handler: received)
            for handler in [count, encoder, context] { pipeline.removeHandler(context: handler, promise: nil) }
            // Removed last, because it passes on the bytes that arrived after the request.
            pipeline.removeHandler(context: decoder, promise: nil)
            channel.read()
        } catch {
            channel.close(promise: nil)
        }
        (self.context, service) = (nil, nil)
    }

    // MARK: Ends

    /// Half-closes the connection and discards what the client still sends, so that the client receives the last
    /// response.
    private func end() {
        guard let context else { return }
        phase = .ending
        received.swallow()
        expect(within: limits.farewell)
        context.close(mode: .output, promise: nil)
        resumeReading()
    }

    private func resumeReading() {
        guard wantsRead else { return }
        wantsRead = false
        context?.read()
    }

    /// Closes the connection after the given time unless a new deadline is set before.
    private func expect(within time: TimeAmount) { schedule(in: time) { $0.context?.close(promise: nil) } }

    private func schedule(in time: TimeAmount, _ action: @escaping (HTTPConnection) -> Void) {
        deadline?.cancel()
        deadline = context?.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in
            if let self { action(self) }
        }
    }
}

extension HTTPConnection.Phase {
    /// Whether a service is working on a request.
    fileprivate var isServed: Bool {
        switch self {
        case .answering, .streaming: true
        case .waiting, .receiving, .delaying, .writing, .upgraded, .ending: false
        }
    }

    fileprivate var activity: ConnectionLedger.Activity {
        switch self {
        case .waiting, .receiving, .delaying, .ending: .waiting
        case .answering, .writing, .streaming, .upgraded: .answering
        }
    }
}
