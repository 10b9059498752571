import InletCore

/// The parser's criteria for messages and packets.
extension RTSPParser {
    /// Whether something begins at a place.
    enum Evidence: Equatable {
        case yes
        case no
        /// That shows only with this many bytes from the place on.
        case needsMore(Int)
    }

    static let dollar = UInt8(ascii: "$")
    /// The bytes that ``packetBegins(_:at:)`` examines at most: the frame's header and the fixed header of RTP.
    static let longestEvidence = 16
    /// The beginning of a response, as it is looked for in garbage.
    static let responsePrefix = Array("RTSP/1.".utf8)
    /// The beginnings of messages. `HTTP` is among them, so that a web server's answer can be told to the user.
    private static let messagePrefixes: [[UInt8]] =
        [
            "RTSP/", "HTTP/1.", "OPTIONS ", "ANNOUNCE ", "GET_PARAMETER ", "SET_PARAMETER ", "TEARDOWN ", "REDIRECT ",
            "PLAY_NOTIFY ", "DESCRIBE ", "SETUP ", "PLAY ", "PAUSE ", "RECORD ",
        ].map { Array($0.utf8) }

    static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") }

    /// Whether the bytes at a place begin with the given ones.
    static func begins(_ bytes: RawSpan, at position: Int, with prefix: [UInt8]) -> Evidence {
        let rest = bytes.byteCount - position
        for index in prefix.indices {
            guard index < rest else { return .needsMore(rest + 1) }
            guard bytes.octet(at: position + index) == prefix[index] else { return .no }
        }
        return .yes
    }

    /// Whether a response or a request begins at a place.
    static func messageBegins(_ bytes: RawSpan, at position: Int) -> Evidence {
        var result = Evidence.no
        for prefix in messagePrefixes {
            switch begins(bytes, at: position, with: prefix) {
            case .yes: return .yes
            case .needsMore(let least): result = .needsMore(least)
            case .no: break
            }
        }
        return result
    }

    /// Whether what follows a `$` is certainly a packet of the session: on a channel that was set up, of version 2,
    /// with a payload type that may occur, from the known source; or RTCP whose length fits.
    func packetBegins(_ bytes: RawSpan, at position: Int) -> Evidence {
        let rest = bytes.byteCount - position
        guard !settings.knownChannels.isEmpty else { return .no }
        guard rest >= 2 else { return .needsMore(2) }
        guard settings.knownChannels.contains(bytes.octet(at: position + 1)) else { return .no }
        guard rest >= 6 else { return .needsMore(6) }
        let length = Int(bytes.octets16(at: position + 2))
        guard length >= 8, bytes.octet(at: position + 4) >> 6 == 2 else { return .no }
        let kind = bytes.octet(at: position + 5)
        // Packet types of RTCP (RFC 5761, section 4).
        if (192...223).contains(kind) {
            guard rest >= 8 else { return .needsMore(8) }
            return 4 * (Int(bytes.octets16(at: position + 6)) + 1) <= length ? .yes : .no
        }
        guard length >= 12, settings.knownPayloadTypes.isEmpty || settings.knownPayloadTypes.contains(kind & 0x7F)
        else { return .no }
        guard let ssrc = settings.knownSSRC else { return .yes }
        guard rest >= Self.longestEvidence else { return .needsMore(Self.longestEvidence) }
        return bytes.octets16(at: position + 12) == UInt16(ssrc >> 16)
            && bytes.octets16(at: position + 14) == UInt16(truncatingIfNeeded: ssrc) ? .yes : .no
    }
}
