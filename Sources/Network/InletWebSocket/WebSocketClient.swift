package import InletCore
import InletTLS
import NIOCore
import NIOPosix
import Synchronization

/// A client's WebSocket (RFC 6455), open from ``connect(_:)`` to its end. Safe from any thread; messages are read by
/// one task at a time.
///
/// Only ``next()`` waits without a deadline. It ends if the server is silent and does not even answer pings. The
/// connection is closed with the last reference.
package final class WebSocketClient: Sendable {
    /// The subprotocol that the server chose; nil if none was offered or chosen.
    package let subprotocol: String?
    private let channel: any Channel
    private let inbox: WebSocketInbox
    private let configuration: WebSocketConfiguration
    private let unsent = Mutex(0)

    private init(
        _ opened: WebSocketOpeningOutcome.Opened, _ inbox: WebSocketInbox, _ configuration: WebSocketConfiguration
    ) {
        channel = opened.channel
        subprotocol = opened.subprotocol
        self.inbox = inbox
        self.configuration = configuration
    }

    deinit { channel.close(promise: nil) }

    /// Connects. May be cancelled.
    ///
    /// - Throws: ``InletError``. If the server answers with a status other than 101, its cause is an ``HTTPRefusal``:
    ///   ``InletError/Code/authenticationFailed`` for 401 and 403, ``InletError/Code/notFound`` for 404,
    ///   ``InletError/Code/serverUnavailable`` for 429 and 500 and above, ``InletError/Code/addressRefused`` for
    ///   redirections, which are not followed. Besides, ``InletError/Code/hostNotFound``,
    ///   ``InletError/Code/connectionRefused``, ``InletError/Code/tlsFailed``, ``InletError/Code/timedOut``,
    ///   ``InletError/Code/malformedData``, ``InletError/Code/disconnected``.
    package static func connect(_ configuration: WebSocketConfiguration) async throws(InletError) -> WebSocketClient {
        try configuration.validate()
        let inbox = WebSocketInbox(
            mostMessages: max(1, configuration.mostUnreadMessages), mostBytes: max(1, configuration.mostUnreadBytes))
        let outcome = WebSocketOpeningOutcome()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let late = InletError(
            .timedOut, "The server did not open the WebSocket in time. Check the port and the network.")
        let deadline = loop.scheduleTask(in: .nanoseconds(configuration.openingLimit.wholeNanoseconds)) {
            _ = outcome.end(.failure(late))
        }
        defer { deadline.cancel() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                outcome.begin(continuation)
                start(configuration, on: loop, inbox, outcome)
            }
        } onCancel: {
            outcome.end(.failure(InletError(.cancelled, "Connecting a WebSocket was cancelled.")))
        }
        do {
            return WebSocketClient(try result.get(), inbox, configuration)
        } catch {
            throw error.about(configuration.address.redacted)
        }
    }

    /// Returns the next message, or nil when the server has ended the WebSocket with its closing handshake, which
    /// ``closing`` describes. May be cancelled, and called again after that.
    ///
    /// - Throws: ``InletError`` if the connection broke: ``InletError/Code/disconnected``,
    ///   ``InletError/Code/timedOut`` if the server answers no pings, ``InletError/Code/malformedData`` if it breaks
    ///   the protocol.
    package func next() async throws(InletError) -> WebSocketMessage? {
        let channel = channel
        return try await inbox.next { _ = channel.setOption(.autoRead, value: true) }
    }

    /// How the server ended the WebSocket; nil until it has, or if it broke.
    package var closing: WebSocketClosing? {
        if case .closed(let closing)? = inbox.end { closing } else { nil }
    }

    /// Sends a message, and waits until it has left this process. A cancellation does not revoke it.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if too many bytes already wait to be sent,
    ///   ``InletError/Code/timedOut`` if the server does not read, which ends the connection, and
    ///   ``InletError/Code/disconnected`` if it has ended.
    package func send(_ message: WebSocketMessage) async throws(InletError) {
        let count = message.count
        let fits = unsent.withLock { unsent in
            guard unsent + count <= configuration.mostUnsentBytes else { return false }
            unsent += count
            return true
        }
        guard fits else {
            throw InletError(
                .resourceExhausted,
                "More than \(configuration.mostUnsentBytes) bytes wait to be sent by a WebSocket. Its server reads too slowly."
            )
        }
        defer { unsent.withLock { $0 -= count } }
        try await write(.message(message))
    }

    /// Sends a closing frame, waits briefly for the server to close as well, and closes the connection.
    ///
    /// - Parameters:
    ///   - code: the status code (RFC 6455, section 7.4). The default is 1000, a normal end.
    ///   - reason: text for people, of which at most 123 bytes are sent.
    package func close(code: UInt16 = 1000, reason: String = "") async {
        try? await write(.closing(.init(code: code, reason: reason)))
        let channel = channel
        let limit = TimeAmount.nanoseconds(configuration.sendLimit.wholeNanoseconds)
        let deadline = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        _ = channel.setOption(.autoRead, value: true)
        try? await channel.closeFuture.get()
        deadline.cancel()
    }

    private func write(_ outgoing: WebSocketOutgoing) async throws(InletError) {
        let (channel, inbox) = (channel, inbox)
        let limit = TimeAmount.nanoseconds(configuration.sendLimit.wholeNanoseconds)
        let deadline = channel.eventLoop.scheduleTask(in: limit) {
            inbox.finish(
                .failed(InletError(.timedOut, "The server of the WebSocket does not read. Connect again.")))
            channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        do {
            try await channel.writeAndFlush(outgoing)
        } catch {
            if case .failed(let reason)? = inbox.end { throw reason }
            throw InletError(.disconnected, "The WebSocket has ended. Connect again.", cause: error)
        }
    }

    private static func start(
        _ configuration: WebSocketConfiguration, on loop: any EventLoop, _ inbox: WebSocketInbox,
        _ outcome: WebSocketOpeningOutcome
    ) {
        let address = configuration.address
        ClientBootstrap(group: loop)
            .connectTimeout(.nanoseconds(configuration.connectLimit.wholeNanoseconds))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                outcome.note(channel)
                return channel.eventLoop.makeCompletedFuture {
                    if address.isSecure {
                        let tls = try TLSClientHandler(host: address.host, configuration.tls) { result in
                            if case .failure(let error) = result { outcome.end(.failure(error)) }
                        }
                        try channel.pipeline.syncOperations.addHandler(tls)
                    }
                    try channel.pipeline.syncOperations.addHandler(WebSocketOpening(configuration, inbox, outcome))
                }
            }
            .connect(host: address.host, port: address.port)
            .whenFailure { outcome.end(.failure(error($0))) }
    }

    /// Returns the error for a connection that could not be made.
    private static func error(_ error: any Error) -> InletError {
        if let error = error as? InletError { return error }
        let context = InletError.Context(operation: "connect")
        guard let failure = error as? NIOConnectionError else {
            return InletError(
                .disconnected, "The server cannot be reached. Check its address, its port and the network.",
                cause: error, context: context)
        }
        // An error that occurred before anything was sent, such as one in the file of authorities.
        if let own = failure.connectionErrors.lazy.compactMap({ $0.error as? InletError }).first { return own }
        if failure.connectionErrors.isEmpty, failure.dnsAError != nil || failure.dnsAAAAError != nil {
            return InletError(
                .hostNotFound, "The name service does not know the server. Check its spelling, and that DNS works.",
                cause: error, context: context)
        }
        let codes = failure.connectionErrors.compactMap { ($0.error as? IOError)?.errnoCode }
        if codes.contains(ECONNREFUSED) {
            return InletError(
                .connectionRefused, "Nothing listens at the server's port. Check the port, and that the server runs.",
                cause: error, context: .init(operation: "connect", nativeCode: ECONNREFUSED))
        }
        return InletError(
            .disconnected, "The server cannot be reached. Check its address, its port and the network.", cause: error,
            context: .init(operation: "connect", nativeCode: codes.first))
    }
}
