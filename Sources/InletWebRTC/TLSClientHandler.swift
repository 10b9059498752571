#if WebRTC
    import COpenSSL
    import InletCore
    import InletRTC
    import NIOCore

    /// Puts the bytes of a channel into TLS as its client, by the system's OpenSSL, which reads and writes memory here
    /// and no socket. Confined to the channel's event loop.
    @safe final class TLSClientHandler: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let tls: OpaquePointer
        /// The encrypted bytes that have arrived, and those to send. Owned by `tls`.
        private let incoming, outgoing: OpaquePointer
        private let done: @Sendable (Result<Void, InletError>) -> Void
        private var isConnected = false
        private var hasEnded = false
        private var deadline: Scheduled<Void>?
        /// What is to be sent when the handshake is done.
        private var waiting: [ByteBuffer] = []
        /// The most bytes that wait for the handshake, and the most of one read or write.
        private static let (mostWaiting, chunk) = (65_536, 16_384)
        private static let handshakeLimit = TimeAmount.seconds(5)

        /// - Parameters:
        ///   - host: the name or numeric address that the certificate is to be for.
        ///   - done: called once on the event loop, when the handshake is done or has failed.
        /// - Throws: ``InletError/Code/unsupported`` if OpenSSL is not installed;
        ///   ``InletError/Code/invalidConfiguration`` if the file of authorities holds none.
        init(
            host: String, _ settings: RelayTLS, done: @escaping @Sendable (Result<Void, InletError>) -> Void
        ) throws(InletError) {
            guard inlet_openssl_load() else {
                throw InletError(
                    .unsupported, "turns: needs OpenSSL 3, which could not be loaded. Install libssl3 (Debian).")
            }
            guard let context = unsafe inlet_tls_context(settings.isVerified, settings.authorities) else {
                throw InletError(
                    .invalidConfiguration,
                    settings.authorities.map {
                        "No certificate authority could be read from '\($0)'. turn-tls-ca names a PEM file."
                    }
                        ?? "The system has no certificate authorities. Install ca-certificates, or name some with turn-tls-ca."
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
        }

        deinit { unsafe inlet_tls_free(tls) }

        func channelActive(context: ChannelHandlerContext) {
            deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.handshakeLimit) { [weak self] in
                self?.fail(
                    InletError(.timedOut, "The relay did not answer the TLS handshake. Check the port."), context)
            }
            handshake(context)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var buffer = unwrapInboundIn(data)
            while let bytes = buffer.readBytes(length: min(buffer.readableBytes, Self.chunk)), !bytes.isEmpty {
                guard unsafe inlet_tls_put(incoming, bytes, Int32(bytes.count)) == bytes.count else {
                    return fail(InletError(.resourceExhausted, "There is not enough memory for TLS."), context)
                }
            }
            if !isConnected { handshake(context) }
            if isConnected { readAll(context) }
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            let buffer = unwrapOutboundIn(data)
            if isConnected {
                encrypt(buffer, context)
            } else if waiting.reduce(buffer.readableBytes, { $0 + $1.readableBytes }) <= Self.mostWaiting {
                waiting.append(buffer)
            } else {
                fail(InletError(.resourceExhausted, "Too much was to be sent before TLS was agreed on."), context)
            }
            promise?.succeed()
        }

        func channelInactive(context: ChannelHandlerContext) {
            fail(InletError(.disconnected, "The relay ended the connection. Check the server and the port."), context)
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
                for buffer in waiting { encrypt(buffer, context) }
                waiting = []
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
            default: fail(handshakeError(result), context)
            }
        }

        private func handshakeError(_ result: Int32) -> InletError {
            let context = InletError.Context(operation: "SSL_do_handshake", nativeCode: result)
            if let reason = unsafe inlet_tls_distrust(tls).map({ unsafe String(cString: $0) }) {
                return InletError(
                    .tlsFailed,
                    "The relay's certificate is not trusted: \(reason). Name its authority with turn-tls-ca, or accept any with turn-tls-verify=false.",
                    context: context)
            }
            let reason = unsafe inlet_tls_reason().map { unsafe String(cString: $0) } ?? "the server ended it"
            return InletError(
                .tlsFailed, "The TLS handshake with the relay failed: \(reason). Check that the port is one for turns.",
                context: context)
        }

        private func readAll(_ context: ChannelHandlerContext) {
            var bytes = [UInt8](repeating: 0, count: Self.chunk)
            while !hasEnded {
                var count: Int32 = 0
                let result = unsafe inlet_tls_read(tls, &bytes, Int32(bytes.count), &count)
                guard result == SSL_ERROR_NONE, count > 0 else {
                    // An answer to a renewal of keys may have to be sent.
                    sendEncrypted(context)
                    if result != SSL_ERROR_WANT_READ, result != SSL_ERROR_WANT_WRITE {
                        fail(InletError(.disconnected, "The relay ended the connection."), context)
                    }
                    return
                }
                context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: bytes.prefix(Int(count)))))
            }
        }

        private func encrypt(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
            var buffer = buffer
            while let bytes = buffer.readBytes(length: min(buffer.readableBytes, Self.chunk)), !bytes.isEmpty {
                var count: Int32 = 0
                // Memory takes everything, so nothing is written in part.
                guard unsafe inlet_tls_write(tls, bytes, Int32(bytes.count), &count) == SSL_ERROR_NONE else {
                    return fail(InletError(.disconnected, "The relay ended the connection."), context)
                }
            }
            sendEncrypted(context)
        }

        private func sendEncrypted(_ context: ChannelHandlerContext) {
            var bytes = [UInt8](repeating: 0, count: Self.chunk)
            while true {
                let count = unsafe inlet_tls_take(outgoing, &bytes, Int32(bytes.count))
                guard count > 0 else { break }
                context.write(wrapOutboundOut(ByteBuffer(bytes: bytes.prefix(Int(count)))), promise: nil)
            }
            context.flush()
        }

        private func fail(_ error: InletError, _ context: ChannelHandlerContext) {
            guard !hasEnded else { return }
            hasEnded = true
            deadline?.cancel()
            if !isConnected { done(.failure(error)) }
            context.close(promise: nil)
        }
    }
#endif
