/// What a peer sends after its description: candidates, or credentials for a restart (RFC 8840, `application/trickle-ice-sdpfrag`).
public struct TrickleFragment: Sendable, Hashable {
    /// A candidate and where it belongs.
    public struct Candidate: Sendable, Hashable {
        /// The line without `a=`.
        public var line: String
        /// The `mid` of its media section; empty before the first.
        public var mid: String
    }

    /// In their order.
    public private(set) var candidates: [Candidate] = []
    /// No candidates follow.
    public private(set) var isEnd = false
    /// The peer's ICE name; a new one is a restart.
    public private(set) var userFragment: String?
    /// The peer's ICE password.
    public private(set) var password: String?

    private static let mostLines = 1000

    /// - Throws: ``PeerSessionFailure/malformedDescription`` where it is no fragment; ``PeerSessionFailure/limit`` where it is far too long.
    public init(_ text: String) throws(PeerSessionFailure) {
        let lines = text.split(maxSplits: Self.mostLines, omittingEmptySubsequences: true) { $0.isNewline }
        guard lines.count <= Self.mostLines else { throw .limit }
        var mid = ""
        for line in lines {
            guard line.dropFirst().first == "=" else { throw .malformedDescription }
            if line.hasPrefix("a=mid:") {
                mid = String(line.dropFirst(6))
            } else if line.hasPrefix("a=candidate:") {
                guard line.split(separator: " ").count >= 8 else { throw .malformedDescription }
                candidates.append(Candidate(line: String(line.dropFirst(2)), mid: mid))
            } else if line == "a=end-of-candidates" {
                isEnd = true
            } else if line.hasPrefix("a=ice-ufrag:") {
                userFragment = String(line.dropFirst(12))
            } else if line.hasPrefix("a=ice-pwd:") {
                password = String(line.dropFirst(10))
            }
        }
    }
}
