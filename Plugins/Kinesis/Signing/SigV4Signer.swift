import InletCore
import InletDigest

/// Signs requests with Signature Version 4
/// (https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html). A value without input or output.
struct SigV4Signer: Sendable {
    /// The signed parts of a request, before any escaping.
    struct Request: Sendable {
        var method: String
        /// The host, with its port if that is not the scheme's default.
        var host: String
        /// The path, at least "/".
        var path = "/"
        /// The names and values of the query, in any order. A name may occur more than once.
        var query: [Field] = []
        /// The headers, except `Host` and those of the signature.
        var headers: [Field] = []
        var body: [UInt8] = []
    }

    /// A name with its value.
    struct Field: Sendable, Hashable {
        var name: String
        var value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    let credentials: AWSCredentials
    /// The region, such as `eu-central-1`.
    let region: String
    /// The service's name in signatures, such as `kinesisvideo`.
    let service: String

    /// The headers that proxies change, or that a client adds after signing.
    private static let unsigned: Set<String> = ["expect", "transfer-encoding", "user-agent", "x-amzn-trace-id"]

    /// Returns the path and query of a request in the form to send.
    static func target(_ request: Request) -> String {
        let query = request.query.map { "\(escape($0.name))=\(escape($0.value))" }.joined(separator: "&")
        return escapedPath(request.path) + (query.isEmpty ? "" : "?\(query)")
    }

    /// Returns the headers that sign a request: `X-Amz-Date`, `X-Amz-Security-Token` for temporary credentials, and
    /// `Authorization`.
    func sign(_ request: Request, at time: AWSTime) -> [Field] {
        var added = [Field("X-Amz-Date", time.text)]
        if let token = credentials.sessionToken { added.append(Field("X-Amz-Security-Token", token)) }
        let (headers, names) = canonicalHeaders(request.headers + added, host: request.host)
        let signature = signature(of: request, query: request.query, headers, names, at: time)
        added.append(
            Field(
                "Authorization",
                """
                AWS4-HMAC-SHA256 Credential=\(credentials.accessKeyID)/\(scope(time)), SignedHeaders=\(names), \
                Signature=\(signature)
                """))
        return added
    }

    /// Returns the path and query of a request that anyone with the address may make for a while. `Host` is the only
    /// signed header.
    ///
    /// - Parameter lifetime: the time for which the address is valid, in seconds.
    func presign(_ request: Request, lifetime: Int, at time: AWSTime) -> String {
        let (headers, names) = canonicalHeaders([], host: request.host)
        var query = request.query
        query += [
            Field("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            Field("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope(time))"), Field("X-Amz-Date", time.text),
            Field("X-Amz-Expires", "\(lifetime)"), Field("X-Amz-SignedHeaders", names),
        ]
        if let token = credentials.sessionToken { query.append(Field("X-Amz-Security-Token", token)) }
        let signature = signature(of: request, query: query, headers, names, at: time)
        var signed = request
        signed.query = query + [Field("X-Amz-Signature", signature)]
        return Self.target(signed)
    }

    private func scope(_ time: AWSTime) -> String { "\(time.day)/\(region)/\(service)/aws4_request" }

    private func signature(
        of request: Request, query: [Field], _ headers: String, _ names: String, at time: AWSTime
    ) -> String {
        let pairs = query.map { (Self.escape($0.name), Self.escape($0.value)) }.sorted { one, other in
            one.0 == other.0 ? Self.precedes(one.1, other.1) : Self.precedes(one.0, other.0)
        }
        let canonical = [
            request.method, Self.escape(Self.escapedPath(request.path), keeping: "/"),
            pairs.map { "\($0.0)=\($0.1)" }.joined(separator: "&"), headers, names, Self.digest(request.body),
        ].joined(separator: "\n")
        let text = ["AWS4-HMAC-SHA256", time.text, scope(time), Self.digest(Array(canonical.utf8))]
            .joined(separator: "\n")
        let key = [time.day, region, service, "aws4_request"].reduce(Array("AWS4\(credentials.secretAccessKey)".utf8)) {
            Self.authenticate($1, with: $0)
        }
        return Self.hexadecimal(Self.authenticate(text, with: key))
    }

    /// Returns the headers in canonical form, each with a line end, and the list of their names.
    private func canonicalHeaders(_ headers: [Field], host: String) -> (lines: String, names: String) {
        var values: [String: [String]] = ["host": [host]]
        for header in headers {
            let name = header.name.lowercasedASCII
            guard !Self.unsigned.contains(name), name != "host" else { continue }
            let words = header.value.utf8.split(whereSeparator: \.isASCIISpace).map { String(Substring($0)) }
            values[name, default: []].append(words.joined(separator: " "))
        }
        let names = values.keys.sorted(by: Self.precedes)
        let lines = names.map { "\($0):\((values[$0] ?? []).joined(separator: ","))\n" }.joined()
        return (lines, names.joined(separator: ";"))
    }

    /// Returns the path, escaped once and without dot segments (RFC 3986, section 6.2.2.3).
    private static func escapedPath(_ path: String) -> String {
        var segments: [Substring] = []
        for segment in path.split(atByte: "/", keepsEmpty: false) {
            if segment.isSameBytes(as: "..") {
                _ = segments.popLast()
            } else if !segment.isSameBytes(as: ".") {
                segments.append(segment)
            }
        }
        let joined = "/" + segments.joined(separator: "/")
        return escape(joined + (path.hasByteSuffix("/") && !segments.isEmpty ? "/" : ""), keeping: "/")
    }

    private static func escape(_ text: String, keeping kept: String = "") -> String {
        guard !kept.isEmpty else { return PercentEncoding.encode(text) }
        return text.split(atByte: "/").map { PercentEncoding.encode($0) }.joined(separator: "/")
    }

    private static func precedes(_ one: String, _ other: String) -> Bool {
        one.utf8.lexicographicallyPrecedes(other.utf8)
    }

    private static func digest(_ bytes: [UInt8]) -> String { hexadecimal(MessageDigest.sha256.hash(bytes)) }

    private static func authenticate(_ text: String, with key: [UInt8]) -> [UInt8] {
        MessageDigest.sha256.authenticationCode(for: Array(text.utf8), key: key)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
