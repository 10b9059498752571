import COpenSSL
package import InletCore
package import NIOCore

// Unsafe: owns a connection of OpenSSL.
/// Puts the bytes of a channel into TLS as its server, by the system's OpenSSL, which reads and writes memory here and
/// no socket. What follows in the pipeline hears of an active channel when the handshake is done, and its own ends are
/// told to the client. Confined to the channel's event loop.
@safe package final class TLSServerHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private enum Phase {
        case handshaking, connected
        /// The client was told that nothing follows; it may still send.
        case shut
        case ended
    }

    private let tls: OpaquePointer
    /// The encrypted bytes that have arrived, and those to send. Owned by `tls`.
    private let incoming, outgoing: OpaquePointer
    private let limit: TimeAmount
    private var phase = Phase.handshaking
    private var deadline: Scheduled<Void>?
    /// The most bytes of one read or write.
    private static let chunk = 16_384

    /// - Parameters:
    ///   - certificate: what the server shows; that of now is kept for this connection.
    ///   - limit: the most time for the handshake. The default is ten seconds.
    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    package init(_ certificate: TLSServerCertificate, limit: TimeAmount = .seconds(10)) throws(InletError) {
        guard let made = unsafe certificate.makeConnection() else {
            throw InletError(.resourceExhausted, "There is not enough memory for a connection.")
        }
        unsafe (tls, incoming, outgoing) = made
        self.limit = limit
    }

    deinit { unsafe inlet_tls_free(tls) }

    package func channelActive(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: limit) { [weak self] in
            self?.end(context)
        }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .ended else { return }
        var buffer = unwrapInboundIn(data)
        while let bytes = buffer.readBytes(length: min(buffer.readableBytes, Self.chunk)), !bytes.isEmpty {
            guard unsafe inlet_tls_put(incoming, bytes, Int32(bytes.count)) == bytes.count else { return end(context) }
        }
        if phase == .handshaking { handshake(context) }
        if phase == .connected || phase == .shut { readAll(context) }
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard phase == .connected else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        var buffer = unwrapOutboundIn(data)
        while let bytes = buffer.readBytes(length: min(buffer.readableBytes, Self.chunk)), !bytes.isEmpty {
            var count: Int32 = 0
            // Memory takes everything, so nothing is written in part.
            guard unsafe inlet_tls_write(tls, bytes, Int32(bytes.count), &count) == SSL_ERROR_NONE else {
                promise?.fail(ChannelError.ioOnClosedChannel)
                return end(context)
            }
        }
        context.write(wrapOutboundOut(encrypted()), promise: promise)
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if phase == .connected, mode != .input {
            unsafe inlet_tls_shut_down(tls)
            phase = .shut
            context.writeAndFlush(wrapOutboundOut(encrypted()), promise: nil)
        }
        if mode == .all {
            phase = .ended
            deadline?.cancel()
        }
        context.close(mode: mode, promise: promise)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        phase = .ended
        deadline?.cancel()
        context.fireChannelInactive()
    }

    private func handshake(_ context: ChannelHandlerContext) {
        let result = unsafe inlet_tls_handshake(tls)
        // Of a failure, too, what the client is to be told.
        context.writeAndFlush(wrapOutboundOut(encrypted()), promise: nil)
        switch result {
        case SSL_ERROR_NONE:
            phase = .connected
            deadline?.cancel()
            context.fireChannelActive()
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
        default: end(context)
        }
    }

    private func readAll(_ context: ChannelHandlerContext) {
        var bytes = [UInt8](repeating: 0, count: Self.chunk)
        while phase == .connected || phase == .shut {
            var count: Int32 = 0
            let result = unsafe inlet_tls_read(tls, &bytes, Int32(bytes.count), &count)
            guard result == SSL_ERROR_NONE, count > 0 else {
                // An answer to a renewal of keys may have to be sent.
                let answer = encrypted()
                if answer.readableBytes > 0 {
                    // A client may ask for new keys without an end, and not read the answers.
                    guard context.channel.isWritable else { return end(context) }
                    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
                }
                // The client's end is that of the connection, as it is without TLS.
                if result != SSL_ERROR_WANT_READ, result != SSL_ERROR_WANT_WRITE { end(context) }
                return
            }
            context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: bytes.prefix(Int(count)))))
        }
    }

    /// Takes what is to be sent.
    private func encrypted() -> ByteBuffer {
        var bytes = [UInt8](repeating: 0, count: Self.chunk)
        var encrypted = ByteBuffer()
        while true {
            let count = unsafe inlet_tls_take(outgoing, &bytes, Int32(bytes.count))
            guard count > 0 else { return encrypted }
            encrypted.writeBytes(bytes.prefix(Int(count)))
        }
    }

    private func end(_ context: ChannelHandlerContext) {
        guard phase != .ended else { return }
        phase = .ended
        deadline?.cancel()
        context.close(promise: nil)
    }
}
