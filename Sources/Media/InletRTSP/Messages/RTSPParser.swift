import InletCore

/// Takes the bytes of an RTSP connection apart into messages and interleaved packets (RFC 2326, sections 4 to 7 and
/// 10.12).
///
/// The parser reads from the caller's receive buffer. Packets are returned as ranges of it, and heads and bodies of
/// messages are gathered in the parser, within its limits. Splitting the bytes differently between calls does not
/// change the result. Bytes that are neither are skipped up to something that is certainly RTSP.
package struct RTSPParser: Sendable {
    /// The channels that the parser expects on the connection, and its limits.
    package struct Settings: Sendable {
        /// The interleaved channels that were set up. With an empty set, packets are recognized only at places
        /// at which a message may begin. Otherwise they are also recognized within messages and after garbage.
        package var knownChannels: Set<UInt8> = []
        /// The payload types that may occur on these channels. Empty means any.
        package var knownPayloadTypes: Set<UInt8> = []
        /// The synchronization source of the stream, if it is known.
        package var knownSSRC: UInt32?
        /// The most bytes of a message's first line and headers. The default is 64 KiB.
        package var longestHead = 65_536
        /// The most header lines of a message. The default is 255.
        package var mostHeaders = 255
        /// The most bytes of a message's body. The default is 1 MiB.
        package var longestBody = 1_048_576
        /// The most bytes that are skipped in search of something that is RTSP. The default is 256 KiB.
        package var longestGap = 262_144

        package init() {}
    }

    /// The item found at the beginning of the bytes.
    package enum Event: Sendable, Equatable {
        /// A packet on an interleaved channel: its bytes are these of the span.
        case interleaved(channel: UInt8, range: Range<Int>)
        case response(RTSPResponse)
        /// A request of the server.
        case request(RTSPRequest)
        /// This many bytes were neither a message nor a packet. A message or packet follows.
        case gap(skipped: Int)
        /// Nothing more can be found until the span holds this many bytes after the consumed ones.
        case needsMore(atLeast: Int)
    }

    /// The settings. They may change between calls, as the session is set up.
    package var settings: Settings
    /// The bytes that were skipped so far.
    package private(set) var totalSkipped = 0

    var phase = Phase.idle
    var message = PartialMessage()
    /// The bytes skipped since the last message or packet.
    var skipped = 0

    enum Phase: Sendable {
        /// A message or packet begins here.
        case idle
        /// Within the first line or the headers of a message.
        case head
        /// Within the body of a message; `remaining` is the number of its bytes still to come.
        case body(remaining: Int)
        /// In search of a message or packet.
        case searching
    }

    package init(settings: Settings = Settings()) { self.settings = settings }

    /// Finds the next message or packet.
    ///
    /// The caller calls again with the bytes after the consumed ones until the event is ``Event/needsMore(atLeast:)``.
    /// It never asks for more than 65,539 bytes at once, so a buffer of that size suffices.
    ///
    /// - Parameter bytes: everything received and not yet consumed.
    /// - Returns: the event, and how many bytes from the start of the span it has used up.
    package mutating func next(_ bytes: RawSpan) throws(RTSPParserError) -> (event: Event, consumed: Int) {
        var position = 0
        while true {
            let event: Event?
            switch phase {
            case .idle: event = begin(bytes, &position)
            case .head: event = try readHead(bytes, &position)
            case .body(let remaining): event = readBody(bytes, &position, remaining: remaining)
            case .searching: event = try search(bytes, &position)
            }
            if let event { return (event, position) }
        }
    }

    // MARK: Between messages

    /// Reads what begins here; returns nil after a change of phase.
    private mutating func begin(_ bytes: RawSpan, _ position: inout Int) -> Event? {
        while position < bytes.byteCount, Self.isLineEnd(bytes.octet(at: position)) { position += 1 }
        let rest = bytes.byteCount - position
        guard rest > 0 else { return .needsMore(atLeast: 1) }
        if bytes.octet(at: position) == Self.dollar {
            guard rest >= 4 else { return .needsMore(atLeast: 4) }
            let channel = bytes.octet(at: position + 1)
            let length = Int(bytes.octets16(at: position + 2))
            if length > 0, !settings.knownChannels.isEmpty, !settings.knownChannels.contains(channel) {
                // A channel that was not set up is accepted only if its data may be RTP.
                guard rest >= 5 else { return .needsMore(atLeast: 5) }
                guard bytes.octet(at: position + 4) >> 6 == 2 else {
                    phase = .searching
                    return nil
                }
            }
            return packet(bytes, &position, channel: channel, length: length)
        }
        switch Self.messageBegins(bytes, at: position) {
        case .yes:
            message = PartialMessage()
            phase = .head
        case .no: phase = .searching
        case .needsMore(let least): return .needsMore(atLeast: least)
        }
        return nil
    }

    /// Returns the packet whose `$` is here, once all of it is.
    private mutating func packet(_ bytes: RawSpan, _ position: inout Int, channel: UInt8, length: Int) -> Event {
        guard bytes.byteCount - position >= 4 + length else { return .needsMore(atLeast: 4 + length) }
        let start = position + 4
        position = start + length
        skipped = 0
        return .interleaved(channel: channel, range: start..<position)
    }

    /// Returns the packet within a message; nil unless there certainly is a packet.
    private mutating func packetWithin(_ bytes: RawSpan, _ position: inout Int) -> Event? {
        switch packetBegins(bytes, at: position) {
        case .no: return nil
        case .needsMore(let least): return .needsMore(atLeast: least)
        case .yes:
            return packet(
                bytes, &position, channel: bytes.octet(at: position + 1),
                length: Int(bytes.octets16(at: position + 2)))
        }
    }

    // MARK: Messages

    private mutating func readHead(_ bytes: RawSpan, _ position: inout Int) throws(RTSPParserError) -> Event? {
        while position < bytes.byteCount {
            let byte = bytes.octet(at: position)
            // No header's name begins with a $. Servers insert packets here all the same (curl's test 3100).
            if byte == Self.dollar, message.line.isEmpty, message.start != nil,
                let event = packetWithin(bytes, &position)
            {
                return event
            }
            position += 1
            message.headLength += 1
            guard message.headLength <= settings.longestHead else {
                throw .headTooLong(limit: settings.longestHead)
            }
            guard byte == UInt8(ascii: "\n") else {
                message.line.append(byte)
                continue
            }
            switch message.finishLine(mostHeaders: settings.mostHeaders) {
            case .more: break
            case .tooManyHeaders: throw .tooManyHeaders(limit: settings.mostHeaders)
            case .noMessage:
                phase = .searching
                try skip(message.headLength)
                return nil
            case .end:
                let length = message.headers.contentLength
                guard length <= settings.longestBody else { throw .bodyTooLong(limit: settings.longestBody) }
                phase = .body(remaining: length)
                return nil
            }
        }
        return .needsMore(atLeast: 1)
    }

    private mutating func readBody(_ bytes: RawSpan, _ position: inout Int, remaining: Int) -> Event? {
        var remaining = remaining
        defer { if case .body = phase { phase = .body(remaining: remaining) } }
        while remaining > 0 {
            guard position < bytes.byteCount else { return .needsMore(atLeast: 1) }
            let byte = bytes.octet(at: position)
            // Close to the end a $ is text: waiting for bytes after the body could take forever.
            if byte == Self.dollar, remaining >= Self.longestEvidence, let event = packetWithin(bytes, &position) {
                return event
            }
            message.body.append(byte)
            position += 1
            remaining -= 1
        }
        phase = .idle
        skipped = 0
        let finished = message
        message = PartialMessage()
        return finished.event
    }

    // MARK: Garbage

    /// Skips what is not RTSP, up to the beginning of a response or of a packet of the session.
    private mutating func search(_ bytes: RawSpan, _ position: inout Int) throws(RTSPParserError) -> Event? {
        while position < bytes.byteCount {
            let found: Evidence
            switch bytes.octet(at: position) {
            case Self.dollar: found = packetBegins(bytes, at: position)
            case UInt8(ascii: "R"): found = Self.begins(bytes, at: position, with: Self.responsePrefix)
            default: found = .no
            }
            switch found {
            case .no:
                position += 1
                try skip(1)
            case .needsMore(let least): return .needsMore(atLeast: least)
            case .yes:
                phase = .idle
                return .gap(skipped: skipped)
            }
        }
        return .needsMore(atLeast: 1)
    }

    private mutating func skip(_ count: Int) throws(RTSPParserError) {
        skipped &+= count
        totalSkipped &+= count
        guard skipped <= settings.longestGap else { throw .synchronizationLost(skipped: skipped) }
    }
}
