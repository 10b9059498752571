import InletCore

/// A session description (RFC 8866), as far as an RTSP client needs it.
///
/// Cameras write it in many wrong ways, so nothing is required and nothing fails: a line that cannot be read is
/// ignored, and a media description that makes no sense does not affect the others.
package struct SDP: Sendable, Equatable {
    /// The destination of a stream, from `c=`.
    package struct Connection: Sendable, Equatable {
        /// The address: IPv4 with dots or IPv6 with colons.
        package var address: [UInt8]
        /// The number of routers that multicast packets may pass; nil if it is not stated.
        package var timeToLive: Int?
    }

    /// The session's `a=control`.
    package var control: [UInt8]?
    /// The session's `a=tool`: what wrote the description.
    package var tool: [UInt8]?
    /// The session's `a=range`, as written.
    package var range: [UInt8]?
    /// The session's address.
    package var connection: Connection?
    /// The only source of the session's packets, as `a=source-filter` states it.
    package var sourceFilter: [UInt8]?
    /// The media descriptions in the order of the text.
    package var media: [SDPMedia] = []

    /// The most media descriptions that are read. Further ones are ignored.
    static let mostMedia = 64
    /// The most lines that are read.
    static let mostLines = 8192

    /// Reads a session description.
    package init(_ text: [UInt8]) {
        var lines = 0
        var isIgnored = false
        for line in text.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            lines += 1
            guard lines <= Self.mostLines else { return }
            let line = TextBytes.trimmed(line)
            guard let kind = line.first, line.dropFirst().first == UInt8(ascii: "=") else { continue }
            let value = TextBytes.trimmed(line.dropFirst(2))
            switch kind {
            case UInt8(ascii: "m"):
                isIgnored = media.count >= Self.mostMedia
                if !isIgnored { media.append(SDPMedia(line: value)) }
            case UInt8(ascii: "c") where !isIgnored: take(connection: value)
            case UInt8(ascii: "a") where !isIgnored: take(attribute: value)
            default: break
            }
        }
    }

    private mutating func take(connection text: ArraySlice<UInt8>) {
        guard let connection = Connection(text) else { return }
        if media.isEmpty {
            self.connection = self.connection ?? connection
        } else {
            media[media.count - 1].connection = media[media.count - 1].connection ?? connection
        }
    }

    private mutating func take(attribute text: ArraySlice<UInt8>) {
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let name = TextBytes.lowercased(TextBytes.trimmed(text[..<colon]))
        let value = Array(TextBytes.trimmed(text[colon...].dropFirst()))
        guard media.isEmpty else {
            media[media.count - 1].take(attribute: name, value)
            return
        }
        switch String(decoding: name, as: UTF8.self) {
        case "control": control = control ?? value
        case "tool": tool = tool ?? value
        case "range": range = range ?? value
        case "source-filter": sourceFilter = sourceFilter ?? Self.source(ofFilter: value)
        default: break
        }
    }

    /// Returns the source of a filter with a single one: `incl IN IP4 * 10.0.0.1` (RFC 4570, section 3).
    static func source(ofFilter value: [UInt8]) -> [UInt8]? {
        let words = value.split(separator: UInt8(ascii: " "))
        guard words.count == 5, TextBytes.isSame(words[0], ignoringCase: "incl") else { return nil }
        return Connection.isAddress(words[4]) ? Array(words[4]) : nil
    }
}

extension SDP.Connection {
    /// Reads the value of `c=`, `IN IP4 224.2.17.12/127` (RFC 8866, section 5.7).
    ///
    /// Only the last word counts: cameras write `IN 198.51.100.1`, `In IP4 0.0.0.0` and `IN c=IN IP4 0.0.0.0`.
    ///
    /// - Returns: nil if there is no address, as in `IN` or `SM SM spk0`.
    init?(_ text: ArraySlice<UInt8>) {
        guard let word = text.split(separator: UInt8(ascii: " ")).last else { return nil }
        let parts = word.split(separator: UInt8(ascii: "/"))
        guard let address = parts.first, Self.isAddress(address) else { return nil }
        self.address = Array(address)
        // IPv6 has no time to live here: what follows is the number of addresses.
        let isIPv6 = address.contains(UInt8(ascii: ":"))
        timeToLive = isIPv6 || parts.count < 2 ? nil : TextBytes.number(parts[1], upTo: 255)
    }

    /// Whether a text looks like a numeric address.
    static func isAddress(_ text: ArraySlice<UInt8>) -> Bool {
        (2...45).contains(text.count)
            && text.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") }
            && text.allSatisfy {
                $0.hexadecimalValue != nil || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":")
            }
    }

    /// Whether packets to this address go to a group (RFC 5771 and RFC 4291, section 2.7).
    package var isMulticast: Bool {
        if address.contains(UInt8(ascii: ":")) {
            return TextBytes.lowercased(address.prefix(2)) == Array("ff".utf8)
        }
        let first = address.prefix { $0 != UInt8(ascii: ".") }
        return TextBytes.number(first).map { (224...239).contains($0) } ?? false
    }
}
