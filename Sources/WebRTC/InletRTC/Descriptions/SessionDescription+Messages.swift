import InletCore

extension SessionDescription {
    /// The maximum size in bytes of a message over a data channel that the side of this description accepts (RFC 8841,
    /// 6): 65,536 if it states nothing, nil if it accepts any.
    package var longestMessage: Int? {
        var isApplication = false
        for line in TextBytes.lines(sdp.utf8) {
            if line.starts(with: "m=".utf8) { isApplication = line.starts(with: "m=application ".utf8) }
            guard isApplication, line.starts(with: Self.messageSize.utf8) else { continue }
            guard let size = TextBytes.number(line.dropFirst(Self.messageSize.utf8.count)) else { continue }
            return size == 0 ? nil : size
        }
        return 65_536
    }

    /// Whether the side of this description accepts data channels: it has a section `m=application` that is not
    /// rejected by the port 0 (RFC 8866, 5.14; RFC 3264, 6).
    package var takesMessages: Bool {
        let start = "m=application ".utf8
        return TextBytes.lines(sdp.utf8).contains { line in
            line.starts(with: start)
                && TextBytes.number(line.dropFirst(start.count).prefix { $0 != UInt8(ascii: " ") }) != 0
        }
    }

    /// Returns a description of this side that states the maximum size of messages from the peer, replacing the
    /// engine's statement, which the engine also uses to limit its messages.
    package static func stating(longestMessage bytes: Int, in sdp: String) -> String {
        guard sdp.containsBytes(messageSize) else { return sdp }
        let lines = TextBytes.lines(sdp.utf8).map {
            $0.starts(with: messageSize.utf8) ? Array("\(messageSize)\(bytes)".utf8) : Array($0)
        }
        return String(decoding: lines.map { $0 + [13, 10] }.joined(), as: UTF8.self)
    }

    private static let messageSize = "a=max-message-size:"
}
