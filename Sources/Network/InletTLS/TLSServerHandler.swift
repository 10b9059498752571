import COpenSSL
package import InletCore
package import NIOCore

// Unsafe: owns a connection of OpenSSL.
/// Encrypts a channel as a TLS server with the system's OpenSSL, which reads and writes memory instead of a socket. The
/// next handlers in the pipeline see an active channel when the handshake is done, and when they close it, the client
/// is notified. Confined to the channel's event loop.
///
/// Bytes are encrypted only when the channel is writable. Encrypted bytes belong to one connection, whereas many
/// connections can share the buffer that they are made from.
@safe package final class TLSServerHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private enum Phase {
        case handshaking, connected
        /// The client knows that no data follows; it may still send.
        case shut
        case ended
    }

    private let tls: OpaquePointer
    /// The received encrypted bytes, and those to send. Owned by `tls`.
    private let incoming, outgoing: OpaquePointer
    private let limit: TimeAmount
    private var phase = Phase.handshaking
    private var deadline: Scheduled<Void>?
    /// The writes that are not encrypted yet. Those up to the mark are flushed.
    private var waiting = MarkedCircularBuffer<(buffer: ByteBuffer, promise: EventLoopPromise<Void>?)>(
        initialCapacity: 4)
    private var isSending = false
    /// Shuts the connection down when no write waits.
    private var shutDown: (() -> Void)?
    /// The maximum bytes of one read or write.
    private static let chunk = 16_384

    /// - Parameters:
    ///   - certificate: the server's certificate. Its current pair is kept for this connection.
    ///   - limit: the time limit of the handshake. The default is ten seconds.
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
        guard phase == .connected, shutDown == nil else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        waiting.append((unwrapOutboundIn(data), promise))
    }

    package func flush(context: ChannelHandlerContext) {
        waiting.mark()
        send(context)
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        send(context)
        context.fireChannelWritabilityChanged()
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .output, phase == .connected, !waiting.isEmpty {
            shutDown = { [weak self] in self?.close(context: context, mode: mode, promise: promise) }
            return flush(context: context)
        }
        if phase == .connected, mode != .input {
            phase = .shut
            // A truncated answer must not end like a complete one.
            if waiting.isEmpty {
                unsafe inlet_tls_shut_down(tls)
                context.writeAndFlush(wrapOutboundOut(encrypted()), promise: nil)
            }
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
        shutDown = nil
        while let (_, promise) = waiting.popFirst() { promise?.fail(ChannelError.ioOnClosedChannel) }
        context.fireChannelInactive()
    }

    /// Encrypts and sends flushed writes while the channel is writable.
    private func send(_ context: ChannelHandlerContext) {
        // The channel reports a change of its writability during a write and a flush.
        guard !isSending else { return }
        isSending = true
        repeat {
            while mayEncrypt(context), encryptNext(context) {}
            context.flush()
        } while mayEncrypt(context)
        isSending = false
        if waiting.isEmpty, let shutDown {
            self.shutDown = nil
            shutDown()
        }
    }

    private func mayEncrypt(_ context: ChannelHandlerContext) -> Bool {
        phase == .connected && waiting.hasMark && context.channel.isWritable
    }

    /// Encrypts at most a chunk of the first write.
    ///
    /// - Returns: whether the connection can continue.
    private func encryptNext(_ context: ChannelHandlerContext) -> Bool {
        let index = waiting.startIndex
        let length = min(waiting[index].buffer.readableBytes, Self.chunk)
        if let bytes = waiting[index].buffer.readBytes(length: length), !bytes.isEmpty {
            var count: Int32 = 0
            // A memory buffer accepts all bytes, so no write is partial.
            guard unsafe inlet_tls_write(tls, bytes, Int32(bytes.count), &count) == SSL_ERROR_NONE else {
                end(context)
                return false
            }
        }
        let isDone = waiting[index].buffer.readableBytes == 0
        let promise = isDone ? waiting.popFirst()?.promise : nil
        context.write(wrapOutboundOut(encrypted()), promise: promise)
        return true
    }

    private func handshake(_ context: ChannelHandlerContext) {
        let result = unsafe inlet_tls_handshake(tls)
        // Sent even after a failure, to notify the client.
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
                // A key update may require an answer.
                let answer = encrypted()
                if answer.readableBytes > 0 {
                    // A client could request key updates endlessly without reading the answers.
                    guard context.channel.isWritable else { return end(context) }
                    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
                }
                // If the client ends its side, the connection ends, as it does without TLS.
                if result != SSL_ERROR_WANT_READ, result != SSL_ERROR_WANT_WRITE { end(context) }
                return
            }
            context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: bytes.prefix(Int(count)))))
        }
    }

    /// Takes the encrypted bytes to send.
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
