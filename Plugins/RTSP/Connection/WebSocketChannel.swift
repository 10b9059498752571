import InletCore
import InletRTSP

// Unsafe: reads into memory that the caller lends and unmasks it in place.
/// RTSP in a WebSocket. ``WebSocketHandshake`` and ``WebSocketReader`` interpret its bytes.
///
/// Frames are unpacked in place: payloads are moved to the front by the length of the preceding heads.
@safe final class WebSocketChannel: ByteChannel {
    private var handshake: WebSocketHandshake
    private var reader = WebSocketReader()
    private let dialing: Dialing
    private var connection: DialedChannel
    private var random = SystemRandomNumberGenerator()
    private var isOpen = false
    private var hasEnded = false

    /// Starts a WebSocket over an established connection.
    init(over socket: TCPChannel, _ handshake: WebSocketHandshake, _ dialing: Dialing) throws(InletError) {
        self.handshake = handshake
        self.dialing = dialing
        connection = try DialedChannel(socket, dialing)
        try connection.send { $0 += self.handshake.connected() }
    }

    deinit {
        guard isOpen, !hasEnded, connection.isSent else { return }
        // RFC 6455, section 7.4.1: 1000 is a normal end. The response is not awaited.
        let mask: UInt32 = random.next()
        try? connection.send { WebSocketWriter.append(.close, [0x03, 0xE8], mask: mask, to: &$0) }
    }

    var descriptor: Int32 { connection.descriptor }
    var wantsOutput: Bool { connection.wantsOutput }
    var canSend: Bool { isOpen }
    var hasBuffered: Bool { connection.hasBuffered }

    func flush() throws(InletError) {
        try connection.flush()
        try answer()
    }

    @unsafe func read(into target: UnsafeMutableRawBufferPointer) throws(InletError) -> ReadOutcome {
        guard !hasEnded else { return .ended }
        let outcome = unsafe try connection.read(into: target)
        guard case .bytes(let count) = outcome else {
            guard outcome == .ended else { return outcome }
            hasEnded = true
            guard isOpen else {
                throw InletError(
                    .disconnected,
                    "The server closed the connection instead of answering. It may not offer WebSockets at this port.")
            }
            return .ended
        }
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: target[..<min(count, target.count)])
        let length = unsafe try takeApart(bytes, into: target)
        try answer()
        // Once per call, so that a server that sends pings endlessly does not block the caller.
        if length > 0 { return .bytes(length) }
        return hasEnded ? .ended : .wouldBlock
    }

    @unsafe func write(_ bytes: UnsafeRawBufferPointer) throws(InletError) -> Int {
        try flush()
        guard isOpen, !hasEnded, connection.isSent else { return 0 }
        let message = unsafe Array(bytes)
        let mask: UInt32 = random.next()
        try connection.send { WebSocketWriter.append(.binary, message, mask: mask, to: &$0) }
        return bytes.count
    }

    /// Moves the payloads among the bytes to the front of their memory.
    ///
    /// - Returns: the number of payload bytes.
    @unsafe private func takeApart(
        _ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
    ) throws(InletError) -> Int {
        var position = 0
        if !isOpen {
            let (consumed, outcome) = unsafe try handshake.receive(bytes.bytes)
            switch outcome {
            case .waiting: return 0
            case .open:
                isOpen = true
                position = consumed
            case .reconnect:
                connection = try DialedChannel(dialing)
                try connection.send { $0 += handshake.connected() }
                return 0
            }
        }
        var length = 0
        while true {
            switch unsafe try reader.next(bytes.bytes, &position) {
            case .payload(let range):
                // Heads precede payloads, so the destination is never after the bytes.
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[length...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
                length += range.count
            case .closed:
                hasEnded = true
                return length
            case .needsMore: return length
            }
        }
    }

    /// Answers control frames. While the system accepts no bytes, the latest answer waits.
    private func answer() throws(InletError) {
        guard reader.hasAnswer, connection.isSent else { return }
        let mask: UInt32 = random.next()
        try connection.send { reader.appendAnswer(mask: mask, to: &$0) }
    }
}
