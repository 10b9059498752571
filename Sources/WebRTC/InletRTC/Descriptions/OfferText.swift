import InletCore

/// Adds to an engine's offer the lines that engines leave out and peers need. Pure.
package enum OfferText {
    /// Constrained baseline, level 3.1, which every browser decodes (RFC 6184, 8.1).
    package static let profile = "42e01f"

    /// Returns the offer in the form to send.
    ///
    /// - H.264 gets its profile and packetization mode, without which servers assume others (RFC 6184, 8.2.2).
    /// - `a=setup:active`: an engine with an RSA certificate can start DTLS with a peer that accepts only ECDSA, but
    ///   not the other way round. The peer then answers `passive` (RFC 5763, 5).
    package static func prepared(_ sdp: String) -> String {
        let lines = TextBytes.lines(sdp.utf8)
        let types = Set(lines.compactMap(h264Type))
        let described = Set(lines.compactMap { type(of: "a=fmtp:", in: $0) })
        var prepared: [[UInt8]] = []
        for line in lines {
            if line.elementsEqual("a=setup:actpass".utf8) {
                prepared.append(Array("a=setup:active".utf8))
            } else if let type = type(of: "a=fmtp:", in: line), types.contains(type) {
                let start = Array("a=fmtp:".utf8) + type + [UInt8(ascii: " ")]
                prepared.append(start + parameters(line.dropFirst(start.count)))
            } else {
                prepared.append(line)
                if let type = h264Type(line), !described.contains(type) {
                    prepared.append(Array("a=fmtp:".utf8) + type + [UInt8(ascii: " ")] + parameters([]))
                }
            }
        }
        return String(decoding: prepared.map { $0 + [13, 10] }.joined(), as: UTF8.self)
    }

    /// Returns the number in `a=rtpmap:NUMBER H264/90000`.
    private static func h264Type(_ line: [UInt8]) -> [UInt8]? {
        guard let type = type(of: "a=rtpmap:", in: line),
            TextBytes.isSame(line.dropFirst("a=rtpmap:".utf8.count + type.count).prefix(6), ignoringCase: " h264/")
        else { return nil }
        return type
    }

    private static func type(of start: String, in line: [UInt8]) -> [UInt8]? {
        guard line.starts(with: start.utf8) else { return nil }
        return Array(line.dropFirst(start.utf8.count).prefix { $0 != UInt8(ascii: " ") })
    }

    private static func parameters(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let given = text.split(separator: UInt8(ascii: ";")).map { Array($0.drop { $0 == UInt8(ascii: " ") }) }
        let names = Set(given.map { TextBytes.lowercased($0.prefix { $0 != UInt8(ascii: "=") }) })
        let wanted = [
            ("packetization-mode", "1"), ("profile-level-id", profile), ("level-asymmetry-allowed", "1"),
        ].filter { !names.contains(Array($0.0.utf8)) }
        return Array((given + wanted.map { Array("\($0.0)=\($0.1)".utf8) }).joined(separator: [UInt8(ascii: ";")]))
    }
}
