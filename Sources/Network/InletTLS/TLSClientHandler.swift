import COpenSSL
package import InletCore
package import NIOCore

// Unsafe: owns a connection of OpenSSL.
/// Encrypts a channel as a TLS client with the system's OpenSSL, which reads and writes memory instead of a socket. The
/// next handlers in the pipeline see an active channel when the handshake is done. Confined to the channel's event
/// loop.
@safe package final class TLSClientHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let tls: OpaquePointer
    /// The received encrypted bytes, and those to send. Owned by `tls`.
    private let incoming, outgoing: OpaquePointer
    private let settings: TLSClientSettings
    private let done: @Sendable (Result<Void, InletError>) -> Void
    private var isConnected = false
    private var hasEnded = false
    private var deadline: Scheduled<Void>?
    /// The writes that wait for the handshake.
    private var waiting: [(buffer: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
    /// The maximum bytes that wait for the handshake, and the maximum of one read or write.
    private static let (mostWaiting, chunk) = (65_536, 16_384)

    /// - Parameters:
    ///   - host: the name or numeric address that the certificate must be issued for.
    ///   - done: called once on the event loop, when the handshake is done or has failed.
    /// - Throws: ``InletError/Code/unsupported`` if OpenSSL is not installed; ``InletError/Code/invalidConfiguration``
    ///   if the file of authorities contains none.
    package init(
        host: String, _ settings: TLSClientSettings, done: @escaping @Sendable (Result<Void, InletError>) -> Void
    ) throws(InletError) {
        guard inlet_openssl_load() else {
            throw InletError(
                .unsupported,
                "\(settings.purpose) needs OpenSSL 3, which could not be loaded. Install libssl3 (Debian).")
        }
        guard let context = unsafe inlet_tls_context(settings.isVerified, settings.authorities) else {
            throw InletError(
                .invalidConfiguration,
                settings.authorities.map {
                    "Cannot read a certificate authority from '\($0)'. Set \(settings.authoritiesOption) to a PEM file."
                }
                    ?? """
                    The system has no certificate authorities. Install ca-certificates, or name some with \
                    \(settings.authoritiesOption).
                    """
            )
        }
        // The connection keeps the context alive.
        defer { unsafe inlet_tls_free_context(context) }
        var incoming: OpaquePointer?
        var outgoing: OpaquePointer?
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        guard
            let tls = unsafe inlet_tls_connection_in_memory(context, host, isAddress, &incoming, &outgoing),
            let incoming = unsafe incoming, let outgoing = unsafe outgoing
        else {
            throw InletError(.resourceExhausted, "There is not enough memory for a connection.")
        }
        unsafe (self.tls, self.incoming, self.outgoing) = (tls, incoming, outgoing)
        self.done = done
        self.settings = settings
    }

    deinit { unsafe inlet_tls_free(tls) }

    package func channelActive(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(
            in: .nanoseconds(settings.limit.wholeNanoseconds)
        ) { [weak self] in
            self?.fail(
                InletError(
                    .timedOut,
                    "The \(self?.settings.peer ?? "server") did not answer the TLS handshake. Check the port."),
                context)
        }
        handshake(context)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        while let bytes = buffer.readBytes(length: min(buffer.readableBytes, Self.chunk)), !bytes.isEmpty {
            guard unsafe inlet_tls_put(incoming, bytes, Int32(bytes.count)) == bytes.count else {
                return fail(InletError(.resourceExhausted, "There is not enough memory for TLS."), context)
            }
        }
        if !isConnected { handshake(context) }
        if isConnected { readAll(context) }
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let buffer = unwrapOutboundIn(data)
        if hasEnded {
            promise?.fail(ChannelError.ioOnClosedChannel)
        } else if isConnected {
            encrypt(buffer, context, promise)
        } else if waiting.reduce(buffer.readableBytes, { $0 + $1.buffer.readableBytes }) <= Self.mostWaiting {
            waiting.append((buffer, promise))
        } else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            fail(InletError(.resourceExhausted, "Too many bytes were sent before the TLS handshake was done."), context)
        }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        fail(
            InletError(.disconnected, "The \(settings.peer) ended the connection. Check the server and the port."),
            context)
        context.fireChannelInactive()
    }

    private func handshake(_ context: ChannelHandlerContext) {
        guard !hasEnded else { return }
        let result = unsafe inlet_tls_handshake(tls)
        sendEncrypted(context)
        switch result {
        case SSL_ERROR_NONE:
            isConnected = true
            deadline?.cancel()
            done(.success(()))
            let pending = waiting
            waiting = []
            for (buffer, promise) in pending { encrypt(buffer, context, promise) }
            context.fireChannelActive()
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
        default: fail(handshakeError(result), context)
        }
    }

    private func handshakeError(_ result: Int32) -> InletError {
        let context = InletError.Context(operation: "SSL_do_handshake", nativeCode: result)
        if let reason = unsafe inlet_tls_distrust(tls).map({ unsafe String(cString: $0) }) {
            return InletError(
                .tlsFailed,
                "The \(settings.peer)'s certificate is not trusted: \(reason). \(trustAdvice(reason))",
                context: context)
        }
        let reason = unsafe inlet_tls_reason().map { unsafe String(cString: $0) } ?? "the server ended it"
        return InletError(
            .tlsFailed,
            "The TLS handshake with the \(settings.peer) failed: \(reason). Check that the port expects TLS.",
            context: context)
    }

    /// Returns advice for one of OpenSSL's reasons (X509_verify_cert_error_string).
    private func trustAdvice(_ reason: String) -> String {
        if reason.containsBytes("mismatch") { return "Connect by a name or address that the certificate is for." }
        if reason.containsBytes("has expired") { return "Renew it at the \(settings.peer), and check the clock here." }
        if reason.containsBytes("not yet valid") { return "Check the clock here." }
        return settings.trustAdvice ?? "Name its authority with \(settings.authoritiesOption)."
    }

    private func readAll(_ context: ChannelHandlerContext) {
        var bytes = [UInt8](repeating: 0, count: Self.chunk)
        while !hasEnded {
            var count: Int32 = 0
            let result = unsafe inlet_tls_read(tls, &bytes, Int32(bytes.count), &count)
            guard result == SSL_ERROR_NONE, count > 0 else {
                // A key update may require an answer.
                sendEncrypted(context)
                if result != SSL_ERROR_WANT_READ, result != SSL_ERROR_WANT_WRITE {
                    fail(InletError(.disconnected, "The \(settings.peer) ended the connection."), context)
                }
                return
            }
            context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: bytes.prefix(Int(count)))))
        }
    }

    /// - Parameter promise: fulfilled when the system has accepted the encrypted bytes.
    private func encrypt(_ buffer: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        guard !hasEnded else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        var buffer = buffer
        while let bytes = buffer.readBytes(length: min(buffer.readableBytes, Self.chunk)), !bytes.isEmpty {
            var count: Int32 = 0
            // A memory buffer accepts all bytes, so no write is partial.
            guard unsafe inlet_tls_write(tls, bytes, Int32(bytes.count), &count) == SSL_ERROR_NONE else {
                promise?.fail(ChannelError.ioOnClosedChannel)
                return fail(InletError(.disconnected, "The \(settings.peer) ended the connection."), context)
            }
        }
        sendEncrypted(context, promise)
    }

    private func sendEncrypted(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>? = nil) {
        var bytes = [UInt8](repeating: 0, count: Self.chunk)
        var encrypted = ByteBuffer()
        while true {
            let count = unsafe inlet_tls_take(outgoing, &bytes, Int32(bytes.count))
            guard count > 0 else { break }
            encrypted.writeBytes(bytes.prefix(Int(count)))
        }
        guard encrypted.readableBytes > 0 else {
            promise?.succeed()
            return
        }
        context.writeAndFlush(wrapOutboundOut(encrypted), promise: promise)
    }

    private func fail(_ error: InletError, _ context: ChannelHandlerContext) {
        guard !hasEnded else { return }
        hasEnded = true
        deadline?.cancel()
        for (_, promise) in waiting { promise?.fail(ChannelError.ioOnClosedChannel) }
        waiting = []
        if !isConnected { done(.failure(error)) }
        context.close(promise: nil)
    }
}
