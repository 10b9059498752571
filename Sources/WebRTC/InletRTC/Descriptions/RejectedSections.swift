import InletCore

/// Completes the sections of an answer that reject offered media, as shown by the port 0 (RFC 3264, 6), for the engine.
/// Pure.
///
/// Such a section may omit ICE and DTLS (RFC 9429, 5.3.1), yet webrtcbin 1.22 refuses a description with a section
/// without them. It gets those of the first section that has them, and does not use them.
package enum RejectedSections {
    /// Returns the answer, with a rejected section for data channels that were offered and are not mentioned.
    ///
    /// - Parameter offer: the offer that is answered.
    package static func completed(_ answer: String, for offer: String) -> String {
        let offered = sections(offer)
        var sections = sections(answer)
        for (index, section) in offered.enumerated().dropFirst(max(1, sections.count)) {
            guard index == sections.count, section.first?.starts(with: data.utf8) == true else { break }
            sections.append([Array("\(data)0 UDP/DTLS/SCTP webrtc-datachannel".utf8), Array("c=IN IP4 0.0.0.0".utf8)])
        }
        let all = Array(sections.joined())
        for index in sections.indices.dropFirst() where isRejected(sections[index]) {
            complete(&sections[index], "a=mid:", from: index < offered.count ? offered[index] : [])
            for start in ["a=ice-ufrag:", "a=ice-pwd:", "a=fingerprint:", "a=setup:"] {
                complete(&sections[index], start, from: all)
            }
        }
        return String(decoding: sections.joined().map { $0 + [13, 10] }.joined(), as: UTF8.self)
    }

    private static let data = "m=application "

    /// Adds a line to a section without a line that begins the same way.
    private static func complete(_ section: inout [[UInt8]], _ start: String, from lines: [[UInt8]]) {
        guard !section.contains(where: { $0.starts(with: start.utf8) }) else { return }
        if let line = lines.first(where: { $0.starts(with: start.utf8) }) { section.append(line) }
    }

    /// Returns the lines before the first section, and those of each section.
    private static func sections(_ sdp: String) -> [[[UInt8]]] {
        var sections: [[[UInt8]]] = [[]]
        for line in TextBytes.lines(sdp.utf8) {
            if line.starts(with: "m=".utf8) { sections.append([]) }
            sections[sections.count - 1].append(line)
        }
        return sections
    }

    /// `m=MEDIA 0 ...`.
    private static func isRejected(_ section: [[UInt8]]) -> Bool {
        let words = (section.first ?? []).split(separator: UInt8(ascii: " "), maxSplits: 2)
        return words.count > 1 && TextBytes.number(words[1]) == 0
    }
}
