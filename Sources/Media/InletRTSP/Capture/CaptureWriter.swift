package import InletCore

/// Makes a capture from a client's reports: the bytes of the file, with all secrets masked.
///
/// The client's own parser determines where messages and packets begin, so that no packet is ever altered. Records
/// are held back until the message that they are part of is complete, since a secret may be split between them.
package struct CaptureWriter: Sendable {
    /// A record that is not written yet.
    private struct Held: Sendable {
        var record: CaptureRecord
        /// The place of its bytes in the connection's stream; nil for all but received bytes.
        var start: Int?
    }

    /// The bytes that can be written now; see ``takeOutput()``.
    private var output: [UInt8]
    private let start: MonotonicTime
    private let redactor: CaptureRedactor
    private var lastTime: Int64 = 0
    private var held: [Held] = []
    private var heldBytes = 0
    /// The number of bytes received on the connection, and the number of those that the parser has consumed.
    private var received = 0
    private var parsed = 0
    /// The pieces of the message that has not ended.
    private var text: [Range<Int>] = []
    /// Whether the rest of a message that was too long to hold is masked as it comes.
    private var masksRest = false
    /// Whether the capture has ended because more would have to be held back than may be.
    private var isFull = false

    /// The most bytes that are held back.
    package static let mostHeld = 4 << 20

    /// - Parameters:
    ///   - header: the first line.
    ///   - start: the time that counts as zero.
    package init(_ header: CaptureHeader, start: MonotonicTime, redactor: CaptureRedactor = CaptureRedactor()) {
        output = header.bytes
        self.start = start
        self.redactor = redactor
    }

    /// Returns the bytes that can be written, and removes them from the writer.
    package mutating func takeOutput() -> [UInt8] {
        defer { output.removeAll(keepingCapacity: true) }
        return output
    }

    /// Whether anything can be written.
    package var hasOutput: Bool { !output.isEmpty }

    // MARK: Events

    /// Records bytes that were read from the connection.
    ///
    /// - Parameter hasMore: whether the connection holds more that polling does not show.
    package mutating func receive(_ bytes: RawSpan, hasMore: Bool, at time: MonotonicTime) {
        hold(CaptureRecord(.received, time: offset(time), hasMore: hasMore, bytes: bytes.array), start: received)
        received &+= bytes.byteCount
    }

    /// Records the item that the parser has found in the bytes that it had not consumed.
    ///
    /// - Parameters:
    ///   - event: what was found. The range of a packet counts from the first byte that was not used up.
    ///   - consumed: how many bytes were used up.
    package mutating func note(_ event: RTSPParser.Event, consumed: Int) {
        let end = min(received, parsed &+ max(0, consumed))
        switch event {
        case .interleaved(_, let range):
            // The dollar sign, the channel and the length precede the packet.
            let packet = min(end, max(parsed, parsed &+ range.lowerBound - 4))
            addText(parsed..<packet)
            parsed = end
        case .response, .request, .gap:
            addText(parsed..<end)
            parsed = end
            finishText()
        case .needsMore:
            addText(parsed..<end)
            parsed = end
        }
        if heldBytes > Self.mostHeld, !text.isEmpty {
            maskText()
        }
        release()
    }

    /// Records that the parser rejects the following bytes, so that the client closes the connection.
    ///
    /// The bytes are masked as one text.
    package mutating func noteParserFailure() { note(.gap(skipped: 0), consumed: received &- parsed) }

    /// Records bytes that were given to the connection: one whole message or interleaved packet.
    package mutating func send(_ bytes: [UInt8], at time: MonotonicTime) {
        var bytes = bytes
        if bytes.first != RTSPParser.dollar { redactor.redact(&bytes) }
        hold(CaptureRecord(.sent, time: offset(time), bytes: bytes))
    }

    /// Records a datagram with RTCP that was sent.
    package mutating func sendReport(_ bytes: [UInt8], at time: MonotonicTime) {
        hold(CaptureRecord(.sentReport, time: offset(time), bytes: bytes))
    }

    /// Records a datagram that arrived.
    ///
    /// - Parameters:
    ///   - kind: ``CaptureRecord/Kind/packet`` or ``CaptureRecord/Kind/report``.
    ///   - hasMore: whether the client has found that another one waits.
    package mutating func datagram(
        _ kind: CaptureRecord.Kind, _ bytes: RawSpan, hasMore: Bool, at time: MonotonicTime
    ) {
        hold(CaptureRecord(kind, time: offset(time), hasMore: hasMore, bytes: bytes.array))
    }

    /// Records that a connection was opened.
    ///
    /// - Parameter scheme: the scheme of the address.
    package mutating func open(_ scheme: StaticString, at time: MonotonicTime) {
        hold(CaptureRecord(.opened, time: offset(time), bytes: Array("\(scheme)".utf8)))
    }

    /// Records that the connection has ended, or could not be opened.
    package mutating func close(_ reason: String, at time: MonotonicTime) {
        endConnection()
        hold(CaptureRecord(.closed, time: offset(time), bytes: Array(reason.utf8.prefix(64))))
    }

    /// Records that everything due by this time is done.
    package mutating func timer(at time: MonotonicTime) { hold(CaptureRecord(.timer, time: offset(time))) }

    /// Records that the session continues over TCP because of losses.
    package mutating func lossy(at time: MonotonicTime) { hold(CaptureRecord(.lossy, time: offset(time))) }

    /// Records that the client ends the session. Only its last messages follow.
    package mutating func stop(at time: MonotonicTime) { hold(CaptureRecord(.stopped, time: offset(time))) }

    // MARK: Held records

    private mutating func hold(_ record: CaptureRecord, start: Int? = nil) {
        guard !isFull else { return }
        if held.isEmpty, start == nil {
            record.append(to: &output)
            return
        }
        heldBytes &+= Self.cost(of: record)
        held.append(Held(record: record, start: start))
        guard heldBytes > Self.mostHeld else { return }
        if !text.isEmpty {
            maskText()
            release()
        }
        // Bytes at which the client's parser is stuck can be neither written nor held for ever.
        guard heldBytes > Self.mostHeld else { return }
        isFull = true
        held = []
        heldBytes = 0
        CaptureRecord(.closed, time: record.time, bytes: Array("too much to hold".utf8)).append(to: &output)
    }

    /// The approximate size of a record in memory.
    private static func cost(of record: CaptureRecord) -> Int { record.bytes.count + 64 }

    /// Masks the message so far, and what of it is still to come: it is too long to be held back.
    private mutating func maskText() {
        masksRest = true
        let redactor = redactor
        change { redactor.maskAll(&$0) }
    }

    private mutating func addText(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        if text.isEmpty {
            text = [range]
            // Line ends between messages belong to none.
            if gathered().allSatisfy({ $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) { text = [] }
        } else if let last = text.last, last.upperBound == range.lowerBound {
            text[text.count - 1] = last.lowerBound..<range.upperBound
        } else {
            text.append(range)
        }
        if masksRest { maskText() }
    }

    private mutating func finishText() {
        let redactor = redactor
        if !masksRest { change { redactor.redact(&$0) } }
        text = []
        masksRest = false
    }

    /// Changes the bytes of the message so far, whose number stays the same, and lets them be written.
    private mutating func change(_ body: (inout [UInt8]) -> Void) {
        var message = gathered()
        let count = message.count
        body(&message)
        guard message.count == count else { return }
        var position = 0
        eachPiece { record, range in
            record.replaceSubrange(range, with: message[position..<(position + range.count)])
            position += range.count
        }
        text = []
    }

    private mutating func gathered() -> [UInt8] {
        var message: [UInt8] = []
        eachPiece { record, range in message += record[range] }
        return message
    }

    /// Calls `body` with each held piece of the message: the record's bytes, and the range within them.
    private mutating func eachPiece(_ body: (inout [UInt8], Range<Int>) -> Void) {
        var index = 0
        for piece in text {
            while index < held.count {
                guard let start = held[index].start else {
                    index += 1
                    continue
                }
                let end = start + held[index].record.bytes.count
                if end <= piece.lowerBound {
                    index += 1
                    continue
                }
                guard start < piece.upperBound else { break }
                let range = max(start, piece.lowerBound)..<min(end, piece.upperBound)
                body(&held[index].record.bytes, (range.lowerBound - start)..<(range.upperBound - start))
                guard end <= piece.upperBound else { break }
                index += 1
            }
        }
    }

    /// Writes the records that no unfinished message is part of.
    private mutating func release() {
        let final = text.first?.lowerBound ?? parsed
        var count = 0
        for item in held {
            if let start = item.start, start + item.record.bytes.count > final { break }
            item.record.append(to: &output)
            heldBytes &-= Self.cost(of: item.record)
            count += 1
        }
        held.removeFirst(count)
    }

    /// Writes everything. Bytes that the parser has not reached belong to no message: they are masked as a separate
    /// message. Usually they are the beginning of a packet, which has no lines.
    private mutating func endConnection() {
        finishText()
        addText(parsed..<received)
        parsed = received
        finishText()
        release()
    }

    private mutating func offset(_ time: MonotonicTime) -> Int64 {
        lastTime = max(lastTime, (time - start).wholeNanoseconds)
        return lastTime
    }
}
