import InletCore

/// A server's request for credentials in one scheme (RFC 7616, section 3.3, and RFC 7617).
struct RTSPChallenge: Sendable, Equatable {
    /// The hash function of a digest.
    enum Algorithm: Sendable, Equatable {
        case md5
        case sha256
    }

    /// The scheme in which credentials are sent.
    enum Scheme: Sendable, Equatable {
        case basic
        /// `isSession` means the `-sess` variants, whose key depends on the nonce.
        case digest(Algorithm, isSession: Bool)
        /// Anything else, which cannot be answered.
        case unknown
    }

    var scheme: Scheme
    /// The scheme as written, for error messages.
    var name: [UInt8]
    var realm: [UInt8] = []
    var nonce: [UInt8] = []
    var opaque: [UInt8]?
    /// The algorithm as written; nil if it is not stated.
    var algorithm: [UInt8]?
    /// Whether `qop` offers `auth`.
    var offersQuality = false
    /// Whether only the nonce was refused because it is too old, and not the credentials.
    var isStale = false

    /// The hash function, if the scheme is Digest and can be answered.
    var digestAlgorithm: Algorithm? {
        guard case .digest(let algorithm, _) = scheme, strength != nil else { return nil }
        return algorithm
    }

    /// The higher, the better the secret is protected. nil if it cannot be answered.
    var strength: Int? {
        switch scheme {
        case .digest(.sha256, _): nonce.isEmpty ? nil : 3
        case .digest(.md5, _): nonce.isEmpty ? nil : 2
        case .basic: 1
        case .unknown: nil
        }
    }

    /// The most challenges that are read.
    private static let most = 16

    /// Reads the values of all `WWW-Authenticate` headers. One value may hold several challenges; commas between the
    /// parameters may be missing.
    static func all(in values: [[UInt8]]) -> [RTSPChallenge] {
        var challenges: [RTSPChallenge] = []
        for value in values {
            var isFirst = true
            var rest = value[...]
            while let word = nextWord(&rest) {
                if let text = word.value {
                    guard !isFirst else { continue }
                    challenges[challenges.count - 1].take(TextBytes.lowercased(word.name), text)
                } else if isFirst
                    || ["basic", "digest"].contains(String(decoding: word.name, as: UTF8.self).lowercasedASCII)
                {
                    guard challenges.count < most else { return challenges.map { $0.finished() } }
                    challenges.append(RTSPChallenge(scheme: .unknown, name: word.name))
                    isFirst = false
                }
            }
        }
        return challenges.map { $0.finished() }
    }

    /// Consumes the next `name=value` or lone word.
    private static func nextWord(_ rest: inout ArraySlice<UInt8>) -> (name: [UInt8], value: [UInt8]?)? {
        rest = rest.drop { $0.isASCIISpace || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "=") }
        guard !rest.isEmpty else { return nil }
        let name = rest.prefix { !$0.isASCIISpace && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
        rest = rest[name.endIndex...]
        let behind = rest.drop { $0.isASCIISpace }
        guard behind.first == UInt8(ascii: "=") else { return (Array(name), nil) }
        rest = behind.dropFirst().drop { $0.isASCIISpace }
        guard rest.first == UInt8(ascii: "\"") else {
            let value = rest.prefix { !$0.isASCIISpace && $0 != UInt8(ascii: ",") }
            rest = rest[value.endIndex...]
            return (Array(name), Array(value))
        }
        // Up to the quote that is not escaped, or the end.
        var end = rest.startIndex + 1
        while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") {
            end += rest[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        end = min(end + 1, rest.endIndex)
        let quoted = rest[..<end]
        rest = rest[end...]
        let isClosed = quoted.count > 1 && quoted.last == UInt8(ascii: "\"")
        return (Array(name), isClosed ? HeaderText.unquoted(quoted) : Array(quoted.dropFirst()))
    }

    private mutating func take(_ name: [UInt8], _ value: [UInt8]) {
        switch String(decoding: name, as: UTF8.self) {
        case "realm": realm = value
        case "nonce": nonce = value
        case "opaque": opaque = value
        case "algorithm": algorithm = value
        case "stale": isStale = TextBytes.isSame(value, ignoringCase: "true")
        case "qop":
            offersQuality = HeaderText.split(value, at: ",").contains { TextBytes.isSame($0, ignoringCase: "auth") }
        default: break
        }
    }

    private func finished() -> RTSPChallenge {
        var challenge = self
        if TextBytes.isSame(name, ignoringCase: "Basic") {
            challenge.scheme = .basic
        } else if TextBytes.isSame(name, ignoringCase: "Digest") {
            switch algorithm.map({ String(decoding: $0, as: UTF8.self).lowercasedASCII }) {
            case nil, "md5": challenge.scheme = .digest(.md5, isSession: false)
            case "md5-sess": challenge.scheme = .digest(.md5, isSession: true)
            case "sha-256", "sha256": challenge.scheme = .digest(.sha256, isSession: false)
            case "sha-256-sess": challenge.scheme = .digest(.sha256, isSession: true)
            default: break
            }
        }
        return challenge
    }

    /// The scheme as an error message names it, such as `Digest (SHA-256)`.
    var label: String {
        let text = String(decoding: name, as: UTF8.self).sanitized(limit: 32)
        guard let algorithm else { return text }
        return "\(text) (\(String(decoding: algorithm, as: UTF8.self).sanitized(limit: 32)))"
    }
}
