package import InletCore

/// Takes the bytes of a WebSocket's server apart into frames (RFC 6455, section 5.2), and answers control frames.
///
/// Payloads are returned as ranges of the caller's bytes as they arrive: a frame is never gathered, and messages need
/// not be separated, because RTSP marks its own messages. Splitting the bytes differently between calls does not change
/// the result.
package struct WebSocketReader: Sendable {
    /// The next item in the bytes.
    package enum Event: Sendable, Equatable {
        /// These bytes, at least one, belong to the stream.
        case payload(Range<Int>)
        /// The server closes the WebSocket. Nothing follows.
        case closed
        /// All bytes are used up.
        case needsMore
    }

    /// The kinds of frames (RFC 6455, section 11.8).
    private enum Opcode: UInt8 {
        case continuation = 0x0
        case text = 0x1
        case binary = 0x2
        case close = 0x8
        case ping = 0x9
        case pong = 0xA

        var isControl: Bool { rawValue & 0x8 != 0 }
    }

    /// The bytes of a frame's head that have arrived: at most 10, as servers do not mask.
    private var head: [UInt8] = []
    private var opcode = Opcode.continuation
    private var remaining = 0
    private var isInFrame = false
    /// Whether a message continues in the next data frame.
    private var isFragmented = false
    private var control: [UInt8] = []
    private var isClosed = false
    /// The payload of the latest ping, the only one that needs an answer (RFC 6455, section 5.5.3).
    private var unansweredPing: [UInt8]?
    private var closeStatus: [UInt8]?

    /// The longest frame that is accepted. It costs no memory; a longer one is not RTSP.
    package static let longestFrame = 16 << 20

    package init() { head.reserveCapacity(10) }

    /// Finds the next part of the stream.
    ///
    /// - Parameter position: where to begin; moves past the consumed bytes.
    /// - Throws: ``InletError/Code/malformedData`` for data that a server may not send.
    package mutating func next(_ bytes: RawSpan, _ position: inout Int) throws(InletError) -> Event {
        while !isClosed {
            guard isInFrame else {
                guard position < bytes.byteCount else { return .needsMore }
                head.append(bytes.octet(at: position))
                position += 1
                try readHead()
                continue
            }
            let count = min(remaining, bytes.byteCount - position)
            guard count > 0 || remaining == 0 else { return .needsMore }
            let range = position..<position + count
            position += count
            remaining -= count
            if opcode.isControl {
                for index in range { control.append(bytes.octet(at: index)) }
                if remaining == 0 { finishControl() }
            } else {
                if remaining == 0 { isInFrame = false }
                if count > 0 { return .payload(range) }
            }
        }
        return .closed
    }

    /// Whether ``appendAnswer(mask:to:)`` has something to append.
    package var hasAnswer: Bool { unansweredPing != nil || closeStatus != nil }

    /// Appends the answer to the latest control frame that needs one. Behind the answer to a close nothing may follow.
    ///
    /// - Parameter mask: random bits; see ``WebSocketWriter``.
    package mutating func appendAnswer(mask: UInt32, to output: inout [UInt8]) {
        if let status = closeStatus {
            WebSocketWriter.append(.close, status, mask: mask, to: &output)
        } else if let ping = unansweredPing {
            WebSocketWriter.append(.pong, ping, mask: mask, to: &output)
        }
        (unansweredPing, closeStatus) = (nil, nil)
    }

    /// Reads the head of a frame once all of it has arrived.
    private mutating func readHead() throws(InletError) {
        guard head.count >= 2 else { return }
        let (first, second) = (head[0], head[1])
        // Without an extension the reserved bits are 0, and only clients mask (sections 5.2 and 5.1).
        guard first & 0x70 == 0, let opcode = Opcode(rawValue: first & 0x0F) else {
            throw Self.malformed("an unknown frame")
        }
        guard second & 0x80 == 0 else { throw Self.malformed("a masked frame") }
        let short = Int(second & 0x7F)
        let lengthSize = short < 126 ? 0 : short == 126 ? 2 : 8
        guard head.count == 2 + lengthSize else { return }
        var length: UInt64 = lengthSize == 0 ? UInt64(short) : 0
        for byte in head[2...] { length = length << 8 | UInt64(byte) }
        guard length <= UInt64(Self.longestFrame) else { throw Self.malformed("a frame that is too long") }
        let isFinal = first & 0x80 != 0
        if opcode.isControl {
            // Section 5.5.
            guard isFinal, length <= 125 else { throw Self.malformed("a control frame that is too long or in parts") }
            control.removeAll(keepingCapacity: true)
        } else {
            // Section 5.4.
            guard (opcode == .continuation) == isFragmented else { throw Self.malformed("fragments out of order") }
            isFragmented = !isFinal
        }
        self.opcode = opcode
        remaining = Int(length)
        isInFrame = true
        head.removeAll(keepingCapacity: true)
    }

    private mutating func finishControl() {
        isInFrame = false
        switch opcode {
        case .ping: unansweredPing = control
        case .close:
            // The status is sent back, without the reason (section 5.5.1).
            closeStatus = control.count >= 2 ? Array(control.prefix(2)) : []
            isClosed = true
        case .pong, .continuation, .text, .binary: break
        }
    }

    private static func malformed(_ what: String) -> InletError {
        InletError(.malformedData, "The server's WebSocket sends \(what).")
    }
}
