import InletCore
import InletRTC

/// A single sign-on token in the form in which AWS's tools keep it in a file (botocore, `SSOTokenProvider`), with the
/// data for its renewal. A value without input or output.
struct SignOnToken: Sendable {
    /// The client that `aws sso login` registered.
    struct Registration: Sendable {
        var clientID, clientSecret: String
        /// The end of its registration, in the form of the file.
        var end: String
    }

    var access: String
    /// The expiry of the token, in seconds since 1970.
    var expiration: Int64
    /// The client to which the token was issued; nil if the file has none.
    var registration: Registration?
    /// The refresh token, in exchange for which a new token is issued; nil without one.
    var refresh: String?

    /// The maximum number of bytes of a token or a secret.
    private static let longestText = 16_384
    /// The longest plausible lifetime of a token, in seconds: ten years.
    private static let longestLife: Int64 = 315_360_000

    /// Parses the content of a file; nil if it contains no token.
    init?(file: String) {
        let members = (try? JSONReader.read(Array(file.utf8)))?.members ?? []
        func text(_ name: String) -> String? { Self.text(name, of: members) }
        guard let access = text("accessToken"), let expiration = text("expiresAt").flatMap(Self.seconds) else {
            return nil
        }
        (self.access, self.expiration, refresh) = (access, expiration, text("refreshToken"))
        if let id = text("clientId"), let secret = text("clientSecret"), let end = text("registrationExpiresAt") {
            registration = Registration(clientID: id, clientSecret: secret, end: end)
        }
    }

    /// Parses the response to a renewal; nil if it contains no token. A response without a refresh token ends the
    /// renewals.
    ///
    /// - Parameter now: the time in seconds since 1970.
    init?(answer text: String, to registration: Registration, now: Int64) {
        let members = (try? JSONReader.read(Array(text.utf8)))?.members ?? []
        let life = members.first { $0.key.isSameBytes(as: "expiresIn") }?.value.number.flatMap { Int64($0) }
        guard let access = Self.text("accessToken", of: members), let life, (1...Self.longestLife).contains(life) else {
            return nil
        }
        (self.access, expiration) = (access, now + life)
        (self.registration, refresh) = (registration, Self.text("refreshToken", of: members))
    }

    /// Returns the client and the refresh token for renewing the token; nil if the file lacks one of them, or if the
    /// client's registration has ended.
    ///
    /// - Parameter now: the time in seconds since 1970.
    func renewal(now: Int64) -> (client: Registration, refresh: String)? {
        guard let registration, let refresh, let end = Self.seconds(registration.end), end > now else { return nil }
        return (registration, refresh)
    }

    /// Returns the content of the file, with botocore's keys in their order.
    ///
    /// - Parameters:
    ///   - start: the start URL of the sign-on.
    ///   - region: the region of the sign-on.
    func file(start: String, region: String) -> String {
        let members: [(String, String?)] = [
            ("startUrl", start), ("region", region), ("accessToken", access),
            ("expiresAt", AWSTime(seconds: expiration).extended), ("clientId", registration?.clientID),
            ("clientSecret", registration?.clientSecret), ("registrationExpiresAt", registration?.end),
            ("refreshToken", refresh),
        ]
        return JSONValue(
            .object(
                members.compactMap { key, text in text.map { JSONMember(key: key, value: JSONValue(.string($0))) } })
        ).json
    }

    /// Returns a member consisting of visible ASCII characters; nil if there is no such member.
    private static func text(_ name: String, of members: [JSONMember]) -> String? {
        guard let text = members.first(where: { $0.key.isSameBytes(as: name) })?.value.text,
            (1...longestText).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return text
    }

    /// Parses the expiry of a token. Versions of AWS's tools before 2020 appended `UTC`.
    private static func seconds(_ text: String) -> Int64? {
        AWSTime.parse(text.hasByteSuffix("UTC") ? "\(text.dropLast(3))Z" : text)?.seconds
    }
}
