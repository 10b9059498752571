import InletCore

/// A message of a peer after its description: candidates, or credentials for a restart (RFC 8840,
/// `application/trickle-ice-sdpfrag`).
package struct TrickleFragment: Sendable, Hashable {
    /// A candidate and its media section.
    package struct Candidate: Sendable, Hashable {
        /// The line without `a=`.
        package var line: String
        /// The `mid` of its media section; empty before the first.
        package var mid: String
    }

    /// The candidates, in order.
    package private(set) var candidates: [Candidate] = []
    /// Whether no more candidates follow.
    package private(set) var isEnd = false
    /// The peer's ICE user name fragment; a new one means a restart.
    package private(set) var userFragment: String?
    /// The peer's ICE password.
    package private(set) var password: String?

    /// - Throws: ``PeerSessionFailure/malformedDescription`` if the text is not a fragment;
    ///   ``PeerSessionFailure/limit`` if it is far too long.
    package init(_ text: String) throws(PeerSessionFailure) {
        func string(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
        var mid = ""
        for line in try SDPText(text).lines where line[0] == UInt8(ascii: "a") {
            let attribute = line.dropFirst(2)
            if let value = SDPText.value(of: "mid", in: attribute) {
                mid = string(value)
            } else if SDPText.value(of: "candidate", in: attribute) != nil {
                guard attribute.split(separator: UInt8(ascii: " ")).count >= 8 else { throw .malformedDescription }
                candidates.append(Candidate(line: string(attribute), mid: mid))
            } else if attribute.elementsEqual("end-of-candidates".utf8) {
                isEnd = true
            } else if let value = SDPText.value(of: "ice-ufrag", in: attribute) {
                userFragment = string(value)
            } else if let value = SDPText.value(of: "ice-pwd", in: attribute) {
                password = string(value)
            }
        }
    }
}
