import InletCore
import InletRTP
import InletRTSP

// Unsafe: receives into the memory of its buffer.
/// A connection that carries RTSP, and interleaved packets if the transport is TCP.
///
/// Confined to one thread at a time.
@safe final class RTSPConnection {
    private let channel: any ByteChannel
    private let buffer = ReceiveBuffer(capacity: 256 << 10)
    /// The parser, whose settings follow the session.
    var parser = RTSPParser()
    /// The bytes that the system has not accepted yet.
    private var output: [UInt8] = []
    private var isEnded = false
    /// The time when the last bytes were read.
    private(set) var arrival = MonotonicTime(nanoseconds: .min)
    /// Whether anything has arrived from the server.
    var hasReceived: Bool { arrival.nanoseconds != .min }
    /// Captures the received and sent bytes; nil for no capture.
    var recorder: CaptureRecorder?

    /// An upper limit for all requests that a session can have open at once.
    private static let mostOutput = 1 << 20

    init(_ channel: any ByteChannel) { self.channel = channel }

    /// The descriptor to poll.
    var descriptor: Int32 { channel.descriptor }
    /// Whether to poll for writing as well. A connection in a handshake is always writable, but to no effect.
    var wantsOutput: Bool { channel.wantsOutput || (!output.isEmpty && channel.canSend) }
    /// A second descriptor to poll; nil without one.
    var second: PolledDescriptor? { channel.second }
    /// Whether bytes are waiting that polling does not reveal.
    var hasBuffered: Bool { channel.hasBuffered }
    /// Whether the server has ended the connection.
    var hasEnded: Bool { isEnded }
    /// Whether all bytes were sent.
    var isSent: Bool { output.isEmpty }

    /// Sends bytes, or keeps them until the system accepts them.
    ///
    /// - Throws: ``InletError/Code/disconnected`` if the connection broke, or if the server reads nothing.
    func send(_ bytes: [UInt8], at time: MonotonicTime) throws(InletError) {
        recorder?.send(bytes, at: time)
        guard output.count + bytes.count <= Self.mostOutput else {
            throw InletError(.disconnected, "The server no longer reads the data sent to it.")
        }
        output += bytes
        try flush()
    }

    /// Sends waiting bytes, as far as the system accepts them.
    func flush() throws(InletError) {
        if channel.wantsOutput || channel.second != nil { try channel.flush() }
        try channel.writeAll(&output)
    }

    /// Reads bytes that have arrived, as far as there is room.
    ///
    /// - Parameter time: the current time, used as the arrival time. The default is for callers that take no packets.
    /// - Returns: whether bytes had arrived.
    func read(at time: MonotonicTime = .distantFuture) throws(InletError) -> Bool {
        let outcome: ReadOutcome?
        do throws(InletError) {
            outcome = unsafe try buffer.fill { target throws(InletError) in unsafe try channel.read(into: target) }
        } catch {
            recorder?.close(.failed(error.code), at: time)
            throw error
        }
        switch outcome {
        case .bytes(let count):
            arrival = time
            if let recorder { buffer.withLast(count) { recorder.receive($0, hasMore: channel.hasBuffered, at: time) } }
            return true
        case .ended:
            isEnded = true
            recorder?.close(.ended, at: time)
            return false
        case .wouldBlock, nil: return false
        }
    }

    /// Returns the next complete message or packet; nil if more bytes are needed.
    ///
    /// - Parameter take: called with an interleaved packet: its channel, its bytes (valid during the call), and
    ///   whether more bytes have arrived after it. Not called with a packet that certainly contains the beginning of
    ///   the next one.
    func next(_ take: (UInt8, RawSpan, Bool) -> Void) throws(InletError) -> RTSPParser.Event? {
        let hasBuffered = channel.hasBuffered
        let result = try buffer.withBytes { bytes throws(InletError) in
            let result: (event: RTSPParser.Event, consumed: Int)
            do throws(RTSPParserError) {
                result = try parser.next(bytes)
            } catch {
                recorder?.noteParserFailure()
                throw error.inletError
            }
            recorder?.note(result.event, consumed: result.consumed)
            if case .interleaved(let number, let range) = result.event,
                !isCut(range, in: bytes, channels: parser.settings.knownChannels)
            {
                take(number, bytes.extracting(range), result.consumed < bytes.byteCount || hasBuffered)
            }
            return result
        }
        buffer.consume(result.consumed)
        if case .needsMore = result.event { return nil }
        return result.event
    }

    /// Returns whether part of a packet is missing. Servers lose bytes when the connection is congested: the packet's
    /// length then reaches into the next packet, and no packet begins at its end.
    ///
    /// Only received bytes are checked: no packet waits for the next one.
    private func isCut(_ range: Range<Int>, in bytes: RawSpan, channels: Set<UInt8>) -> Bool {
        guard range.upperBound < bytes.byteCount else { return false }
        switch bytes[range.upperBound] {
        // These begin line ends, the next packet, or a message.
        case 0x0D, 0x0A, 0x24, UInt8(ascii: "A")...UInt8(ascii: "Z"): return false
        default: break
        }
        // RFC 2326, section 10.12: a dollar sign, the channel, the length; then RTP's version 2.
        let packet = bytes.extracting(range)
        for start in 0..<max(0, packet.byteCount - 1)
        where packet[start] == 0x24 && channels.contains(packet[start + 1]) {
            if start + 4 >= packet.byteCount || packet[start + 4] >> 6 == 2 { return true }
        }
        return false
    }
}
