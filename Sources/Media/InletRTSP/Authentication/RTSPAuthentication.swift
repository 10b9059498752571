import InletCore
internal import InletDigest

/// Answers a server's challenges with credentials: Digest with SHA-256 or MD5 (RFC 7616), or Basic (RFC 7617).
package struct RTSPAuthentication: Sendable {
    /// When Basic, which sends the password readably, may be used.
    package enum BasicPolicy: Sendable, Equatable {
        /// With and without encryption.
        case allowed
        /// Only over an encrypted connection.
        case encryptedOnly
        /// Never, not even over an encrypted connection.
        case never

        /// Returns whether Basic may be used over a connection.
        func allows(isEncrypted: Bool) -> Bool {
            switch self {
            case .allowed: true
            case .encryptedOnly: isEncrypted
            case .never: false
            }
        }
    }

    /// The action to take after a refused request.
    package enum Outcome: Sendable, Equatable {
        /// Send it again, with new authorization.
        case retry
        /// Give up: the server requires credentials, but none were given.
        case noCredentials
        /// Give up: the server offers no scheme that can be used.
        case noUsableScheme
        /// Give up: the server refuses these credentials.
        case refused
    }

    /// Facts about a server's Digest, for the next session with the same server.
    package struct Memory: Sendable, Equatable {
        /// Algorithms that the server offers, but whose answers it refuses.
        var rejected: Set<RTSPChallenge.Algorithm> = []
        /// The algorithm with which the server has accepted the credentials. A refusal of it means these.
        var accepted: RTSPChallenge.Algorithm?

        package init() {}
    }

    /// Facts about the server's Digest.
    package private(set) var memory: Memory
    /// The schemes of the last refusal, as an error message names them.
    package private(set) var offeredSchemes: [String] = []
    /// Whether the last refusal offered Basic, which may not be used here.
    private(set) var isBasicWithheld = false

    private let credentials: RTSPCredentials?
    private let clientNonce: [UInt8]
    private let allowsBasic: Bool
    private var challenge: RTSPChallenge?
    /// The number of requests that used the nonce.
    private var nonceCount: UInt32 = 0
    /// Refusals since the last success of which each brought another nonce.
    private var refusals = 0
    /// Algorithms whose answers were refused since the last success, where another was then tried.
    private var refused: Set<RTSPChallenge.Algorithm> = []
    /// Whether the answer with another algorithm has been tried on a second connection.
    private var hasReconnected = false

    /// The number of new nonces tried in a row. Without a limit, a server that considers each nonce too old would cause
    /// endless attempts.
    private static let mostRefusals = 3

    /// - Parameters:
    ///   - credentials: the user's name and password; nil if no credentials were given.
    ///   - isEncrypted: whether the connection uses TLS.
    ///   - basic: when Basic may be used. The default is always.
    ///   - memory: the facts that an earlier session with the server has learnt; empty by default.
    ///   - clientNonce: the client's own nonce. The default is random.
    package init(
        credentials: RTSPCredentials?, isEncrypted: Bool = false, basic: BasicPolicy = .allowed,
        memory: Memory = Memory(), clientNonce: [UInt8]? = nil
    ) {
        self.credentials = credentials
        self.memory = memory
        allowsBasic = basic.allows(isEncrypted: isEncrypted)
        self.clientNonce =
            clientNonce ?? Self.hexadecimal((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// Takes a refusal with status 401.
    ///
    /// Each nonce is tried once. Credentials that were refused with the nonce they were requested with are wrong: to
    /// repeat them would only lock the account. The exception is a server that offers both algorithms of Digest: some
    /// firmware accepts only MD5, so the other algorithm is tried once, too.
    ///
    /// - Parameters:
    ///   - values: the values of all `WWW-Authenticate` headers.
    ///   - sent: the value of the request's `Authorization`; nil if it had none.
    ///   - wasAnsweringChallenge: whether the request had been sent to answer a refusal just before.
    package mutating func take(
        challenges values: [[UInt8]], sent: [UInt8]?, wasAnsweringChallenge: Bool
    ) -> Outcome {
        let all = RTSPChallenge.all(in: values)
        offeredSchemes = all.map(\.label)
        isBasicWithheld = !allowsBasic && all.contains { $0.scheme == .basic }
        guard credentials != nil else { return .noCredentials }
        let usable = all.filter { $0.strength != nil && (allowsBasic || $0.scheme != .basic) }
        let rejected = memory.rejected.union(refused)
        let accepted = usable.filter { $0.digestAlgorithm.map { !rejected.contains($0) } ?? false }
        // Basic is no replacement for an algorithm that was refused.
        guard let best = Self.strongest(of: accepted) ?? Self.strongest(of: usable) else { return .noUsableScheme }
        refusals += 1
        if sent != nil, let challenge {
            let isSameAgain = challenge.scheme == best.scheme && challenge.nonce == best.nonce
            guard !isSameAgain, refusals <= Self.mostRefusals, !wasAnsweringChallenge || best.isStale else {
                return tryOtherAlgorithm(than: challenge, of: usable)
            }
        }
        challenge = best
        nonceCount = 0
        return .retry
    }

    /// Returns the first of the strongest challenges.
    private static func strongest(of challenges: [RTSPChallenge]) -> RTSPChallenge? {
        challenges.reduce(nil) { best, next in (best?.strength ?? 0) < (next.strength ?? 0) ? next : best }
    }

    /// Answers another of the challenges with Digest after one whose answer was refused, once for each algorithm.
    private mutating func tryOtherAlgorithm(than tried: RTSPChallenge, of usable: [RTSPChallenge]) -> Outcome {
        guard let algorithm = tried.digestAlgorithm, algorithm != memory.accepted else { return .refused }
        let used = refused.union([algorithm])
        let others = usable.filter { $0.digestAlgorithm.map { !used.contains($0) } ?? false }
        guard let other = Self.strongest(of: others) else { return .refused }
        refused = used
        challenge = other
        nonceCount = 0
        return .retry
    }

    /// Records that the server accepted a request.
    package mutating func noteSuccess() {
        (refusals, hasReconnected) = (0, false)
        if let algorithm = challenge?.digestAlgorithm { memory.accepted = algorithm }
        guard !refused.isEmpty else { return }
        memory.rejected = refused
        refused = []
    }

    /// Whether the answer with another algorithm has not been judged yet.
    var isTryingOtherAlgorithm: Bool { !refused.isEmpty }

    /// Records that the server closed the connection before it judged the answer with another algorithm. Servers that
    /// accept one answer per connection do so.
    ///
    /// - Returns: whether to try it on another connection, which is done once.
    mutating func continueOnOtherConnection() -> Bool {
        guard isTryingOtherAlgorithm, !hasReconnected else { return false }
        let tried = refused
        reset()
        (refused, hasReconnected) = (tried, true)
        return true
    }

    /// Forgets the server's nonce, which need not be valid on another connection.
    package mutating func reset() {
        challenge = nil
        nonceCount = 0
        refusals = 0
        refused = []
    }

    /// Returns the value of `Authorization` for a request; nil if the server has not asked for any.
    ///
    /// - Parameters:
    ///   - method: the request's method.
    ///   - uri: the address exactly as in the request line.
    package mutating func authorization(method: RTSPMethod, uri: [UInt8]) -> [UInt8]? {
        authorization(methodName: Array(method.rawValue.utf8), uri: uri)
    }

    /// Returns the value of `Authorization` for a request whose method is given by its name.
    package mutating func authorization(methodName: [UInt8], uri: [UInt8]) -> [UInt8]? {
        guard let credentials, let challenge else { return nil }
        switch challenge.scheme {
        case .unknown: return nil
        case .basic:
            let pair = credentials.user + [UInt8(ascii: ":")] + credentials.password
            return Array("Basic ".utf8) + Base64Text.encode(pair)
        case .digest(let algorithm, let isSession):
            nonceCount &+= 1
            return digest(
                challenge, credentials, algorithm, isSession: isSession, method: methodName, uri: uri)
        }
    }

    // MARK: Digest

    /// Returns the answer to a challenge (RFC 7616, section 3.4).
    private func digest(
        _ challenge: RTSPChallenge, _ credentials: RTSPCredentials, _ algorithm: RTSPChallenge.Algorithm,
        isSession: Bool, method: [UInt8], uri: [UInt8]
    ) -> [UInt8] {
        func hash(_ parts: [UInt8]...) -> [UInt8] {
            Self.hash(Array(parts.joined(separator: [UInt8(ascii: ":")])), algorithm)
        }
        var key = hash(credentials.user, challenge.realm, credentials.password)
        if isSession { key = hash(key, challenge.nonce, clientNonce) }
        let request = hash(method, uri)
        let count = Self.hexadecimal((0..<4).map { UInt8(truncatingIfNeeded: nonceCount >> UInt32(24 - 8 * $0)) })
        let response =
            challenge.offersQuality
            ? hash(key, challenge.nonce, count, clientNonce, Array("auth".utf8), request)
            : hash(key, challenge.nonce, request)
        var text = Array("Digest ".utf8)
        func add(_ name: String, quoted value: [UInt8]) {
            text += "\(text.last == UInt8(ascii: " ") ? "" : ", ")\(name)=\"".utf8
            for byte in value {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
                text.append(byte)
            }
            text.append(UInt8(ascii: "\""))
        }
        add("username", quoted: credentials.user)
        add("realm", quoted: challenge.realm)
        add("nonce", quoted: challenge.nonce)
        add("uri", quoted: uri)
        add("response", quoted: response)
        if let algorithm = challenge.algorithm { text += ", algorithm=".utf8 + algorithm }
        if let opaque = challenge.opaque { add("opaque", quoted: opaque) }
        if challenge.offersQuality { text += ", qop=auth, nc=".utf8 + count }
        if challenge.offersQuality || isSession { add("cnonce", quoted: clientNonce) }
        return text
    }

    private static func hash(_ bytes: [UInt8], _ algorithm: RTSPChallenge.Algorithm) -> [UInt8] {
        switch algorithm {
        case .md5: hexadecimal(MessageDigest.md5.hash(bytes))
        case .sha256: hexadecimal(MessageDigest.sha256.hash(bytes))
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0x0F)]] }
    }
}

extension RTSPAuthentication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The schemes that the server offers, without any secret.
    package var description: String { "authentication, offered: \(offeredSchemes.joined(separator: ", "))" }

    /// The same as ``description``.
    package var debugDescription: String { description }

    /// A mirror without children, since `dump` would show nonces.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
