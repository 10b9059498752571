import InletCore

/// Distinguishes candidates with a numeric address from those with a host name that hides it.
///
/// Browsers hide their addresses behind multicast DNS names (draft-ietf-mmusic-mdns-ice-candidates). Such names are not
/// looked up here: a look-up takes seconds without an answer, and GStreamer 1.22 permanently leaks a session's agent,
/// its thread and its sockets if the session ends during one. The browser connects without: it sends checks to this
/// side's addresses, and this side sees their origin.
package enum CandidateAddress {
    /// Returns whether a line is a well-formed `candidate:` (RFC 8839, 5.1) whose address is IPv4 or IPv6.
    ///
    /// Every reader finds the address of such a line in the same place: there is exactly one space between two words,
    /// as the RFC requires.
    package static func isNumeric(_ line: some StringProtocol) -> Bool { isNumeric(Array(line.utf8)[...]) }

    static func isNumeric(_ line: ArraySlice<UInt8>) -> Bool {
        guard let foundation = SDPText.value(of: "candidate", in: line), !foundation.isEmpty,
            line.allSatisfy({ $0 >= 0x20 && $0 < 0x7f })
        else { return false }
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count >= 8, words.dropLast().allSatisfy({ !$0.isEmpty }), words[0].count <= 42,
            TextBytes.number(words[1], upTo: 256) != nil, isTransport(words[2]),
            TextBytes.number(words[3]) != nil, TextBytes.number(words[5], upTo: 65_535) != nil,
            words[6].elementsEqual("typ".utf8)
        else { return false }
        return isIPv4(words[4]) || isIPv6(words[4])
    }

    /// Returns a description rewritten without the candidates that name a host.
    ///
    /// - Throws: ``PeerSessionFailure/malformedDescription`` if it is not SDP; ``PeerSessionFailure/limit`` if it is
    ///   far too long.
    package static func withoutNames(_ sdp: String) throws(PeerSessionFailure) -> String {
        var text = try SDPText(sdp)
        text.removeHiddenCandidates()
        return text.text
    }

    private static func isTransport(_ word: ArraySlice<UInt8>) -> Bool {
        TextBytes.isSame(word, ignoringCase: "udp") || TextBytes.isSame(word, ignoringCase: "tcp")
    }

    private static func isIPv4(_ word: ArraySlice<UInt8>) -> Bool {
        let numbers = word.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.allSatisfy { $0.count <= 3 && TextBytes.number($0, upTo: 255) != nil }
    }

    /// Returns whether a word has only characters of an IPv6 address; a name has no colon.
    private static func isIPv6(_ word: ArraySlice<UInt8>) -> Bool {
        word.count <= 45 && word.contains(UInt8(ascii: ":"))
            && word.allSatisfy { byte in
                byte.isASCIIDigit || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte.lowercasedASCII)
            }
    }
}
