import InletCore

/// An SDP text (RFC 8866) as lines of bytes, in a form that all readers interpret alike.
///
/// A media engine parses the same text by its own rules: it skips blanks, ends at a zero byte, and does not decode
/// characters. A line that is not plainly `x=value`, or an attribute whose name has invalid characters, is therefore
/// refused, and ``text`` is written from the values parsed here.
struct SDPText {
    /// The maximum number of lines; browsers send some 200 for a video section.
    static let mostLines = 1000
    private static let mostSections = 16
    /// The maximum number of formats: the number of payload types (RFC 3550, 5.1).
    private static let mostFormats = 128
    private static let mostCandidates = 128

    /// The lines from one `m=` to the next.
    struct Section {
        /// The words of its `m=` line.
        var words: [ArraySlice<UInt8>]
        /// The text after each `a=`, in order.
        var attributes: [ArraySlice<UInt8>]
    }

    /// The lines, each of which begins with `x=`.
    private(set) var lines: [[UInt8]]

    /// - Throws: ``PeerSessionFailure/malformedDescription`` if the text is not SDP; ``PeerSessionFailure/limit`` if it
    ///   has more lines than are accepted.
    init(_ text: String, mostLines: Int = mostLines) throws(PeerSessionFailure) {
        lines = TextBytes.lines(text.utf8)
        guard lines.count <= mostLines else { throw .limit }
        guard lines.allSatisfy(Self.isPlain) else { throw .malformedDescription }
    }

    /// Returns the attributes of the session, and its media sections.
    ///
    /// - Throws: ``PeerSessionFailure/malformedDescription`` if the description is incomplete;
    ///   ``PeerSessionFailure/limit`` if it has more of something than any peer needs.
    func sections() throws(PeerSessionFailure) -> (session: [ArraySlice<UInt8>], media: [Section]) {
        guard lines.first.map({ $0.elementsEqual("v=0".utf8) }) == true else { throw .malformedDescription }
        var (session, media) = ([ArraySlice<UInt8>](), [Section]())
        var candidates = 0
        for line in lines {
            switch line[0] {
            case UInt8(ascii: "m"):
                let words = line.dropFirst(2).split(separator: UInt8(ascii: " "))
                guard words.count >= 4, TextBytes.number(words[1], upTo: 65_535) != nil else {
                    throw .malformedDescription
                }
                media.append(Section(words: words, attributes: []))
                guard media.count <= Self.mostSections, words.count - 3 <= Self.mostFormats else { throw .limit }
            case UInt8(ascii: "a"):
                candidates += Self.isCandidate(line) ? 1 : 0
                guard candidates <= Self.mostCandidates else { throw .limit }
                if media.isEmpty {
                    session.append(line.dropFirst(2))
                } else {
                    media[media.count - 1].attributes.append(line.dropFirst(2))
                }
            default: break
            }
        }
        guard !media.isEmpty else { throw .malformedDescription }
        return (session, media)
    }

    /// Removes the candidates without a numeric address.
    mutating func removeHiddenCandidates() {
        lines.removeAll { Self.isCandidate($0) && !CandidateAddress.isNumeric($0.dropFirst(2)) }
    }

    /// The lines, each ended by CR LF.
    var text: String { String(decoding: lines.flatMap { $0 + [13, 10] }, as: UTF8.self) }

    /// Returns the text after an attribute's name and colon; nil for another attribute.
    static func value(of name: StaticString, in attribute: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let start = "\(name):".utf8
        return attribute.starts(with: start) ? attribute.dropFirst(start.count) : nil
    }

    private static func isCandidate(_ line: [UInt8]) -> Bool { line.starts(with: "a=candidate:".utf8) }

    private static func isPlain(_ line: [UInt8]) -> Bool {
        guard line.count >= 2, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(line[0]), line[1] == UInt8(ascii: "="),
            line.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 9 })
        else { return false }
        guard line[0] == UInt8(ascii: "a") else { return true }
        let name = line.dropFirst(2).prefix { $0 != UInt8(ascii: ":") }
        return !name.isEmpty && name.allSatisfy(isOfToken)
    }

    /// Returns whether a byte is a `token-char` (RFC 8866, 9).
    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x27, 0x2a...0x2b, 0x2d...0x2e, 0x30...0x39, 0x41...0x5a, 0x5e...0x7e: true
        default: false
        }
    }
}
