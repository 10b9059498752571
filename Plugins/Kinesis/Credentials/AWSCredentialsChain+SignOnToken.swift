import InletCore
import InletDigest
import InletRTC

/// The token of a single sign-on. It is read from the file where AWS's tools keep it, and renewed there before it
/// expires, by CreateToken of AWS's OIDC service
/// (https://docs.aws.amazon.com/singlesignon/latest/OIDCAPIReference/API_CreateToken.html).
extension AWSCredentialsChain {
    /// The time before expiry at which a token is renewed, in seconds: botocore's `_REFRESH_WINDOW`.
    private static let refreshWindow: Int64 = 900
    private static let oidcLimit = Duration.seconds(5)

    /// The number of times, and the interval, at which an expired token's file is read again after a rejection: two
    /// seconds in total.
    private static let (rereads, rereadInterval) = (8, Duration.milliseconds(250))

    /// A token that has not expired.
    struct UsableToken: Sendable {
        var text: String
        /// A problem that occurred although there is a token, in words without secrets.
        var warning: String?
    }

    /// Returns the token of a sign-on. A token of an `sso_session` is renewed if it expires within a quarter of an
    /// hour.
    ///
    /// Concurrent calls for the same file get the same token or error, so that a refresh token, which can be used only
    /// once, is posted once. The renewal continues if the caller is cancelled.
    ///
    /// - Throws: ``InletError/Code/authenticationFailed`` if the user has to sign in, and the error of the renewal if
    ///   the token has expired and the service cannot be reached.
    func signOnToken(_ signOn: SignOn) async throws(InletError) -> UsableToken {
        let path = signOnPath(signOn)
        return try await environment.signOnTokens.outcome(of: path) { () async throws(InletError) in
            try await usableToken(signOn, path)
        }
    }

    private func usableToken(_ signOn: SignOn, _ path: String) async throws(InletError) -> UsableToken {
        let token = try readToken(path)
        let now = environment.now()
        guard signOn.session != nil, token.expiration - now < Self.refreshWindow,
            let renewal = token.renewal(now: now)
        else {
            try expect(token, now)
            return UsableToken(text: token.access)
        }
        let renewed: SignOnToken
        do throws(InletError) {
            renewed = try await renew(renewal.client, renewal.refresh, signOn)
        } catch {
            let current = try await tokenAfterFailure(error, path)
            guard current.expiration > environment.now() else { throw error }
            guard current.access.isSameBytes(as: token.access) else { return UsableToken(text: current.access) }
            return UsableToken(
                text: current.access,
                warning: "The single sign-on of the profile '\(profileName)' expires soon. \(error.message)")
        }
        do throws(InletError) {
            try environment.write(renewed.file(start: signOn.start, region: signOn.region), path)
        } catch {
            return UsableToken(
                text: renewed.access,
                warning:
                    "The single sign-on of the profile '\(profileName)' was renewed, but not saved. \(error.message)")
        }
        return UsableToken(text: renewed.access)
    }

    /// Reads the token's file again after a failed renewal. Another program may have renewed the token meanwhile,
    /// which invalidates its refresh token, and may be about to write the file.
    private func tokenAfterFailure(_ error: InletError, _ path: String) async throws(InletError) -> SignOnToken {
        var token = try readToken(path)
        guard error.code == .authenticationFailed else { return token }
        for _ in 0..<Self.rereads where token.expiration <= environment.now() {
            await environment.sleep(Self.rereadInterval)
            token = try readToken(path)
        }
        return token
    }

    /// Returns the path of the token's file. Its name is derived from the session, or else from the start URL.
    private func signOnPath(_ signOn: SignOn) -> String {
        let digest = MessageDigest.sha1.hash(Array((signOn.session ?? signOn.start).utf8))
        let hex = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(environment.variable("HOME") ?? "~")/.aws/sso/cache/\(hex).json"
    }

    private func readToken(_ path: String) throws(InletError) -> SignOnToken {
        guard let text = try environment.file(path) else {
            throw InletError(
                .authenticationFailed,
                "The profile '\(profileName)' is not signed in: the file '\(path)' does not exist. \(signIn)")
        }
        guard let token = SignOnToken(file: text) else {
            throw InletError(.malformedData, "'\(path)' contains no single sign-on token. \(signIn)")
        }
        return token
    }

    private func expect(_ token: SignOnToken, _ now: Int64) throws(InletError) {
        guard token.expiration > now else {
            throw InletError(
                .authenticationFailed, "The single sign-on of the profile '\(profileName)' has expired. \(signIn)")
        }
    }

    private var signIn: String { "Sign in: aws sso login --profile \(profileName)." }

    /// Requests a new token with a refresh token.
    private func renew(
        _ client: SignOnToken.Registration, _ refresh: String, _ signOn: SignOn
    ) async throws(InletError) -> SignOnToken {
        let given = try endpoint("AWS_ENDPOINT_URL_SSO_OIDC", of: "the single sign-on renewal")
        let suffix = signOn.region.hasBytePrefix("cn-") ? ".cn" : ""
        let base = given ?? "https://oidc.\(signOn.region).amazonaws.com\(suffix)"
        let fields = [
            ("grantType", "refresh_token"), ("clientId", client.clientID), ("clientSecret", client.clientSecret),
            ("refreshToken", refresh),
        ]
        let response = try await environment.http(
            AWSRequest(
                method: "POST", url: "\(base)/token", headers: [.init("Content-Type", "application/json")],
                body: JSONValue(
                    .object(fields.map { JSONMember(key: $0.0, value: JSONValue(.string($0.1))) })
                ).json, limit: Self.oidcLimit))
        guard response.status == 200 else { throw refusal(ofRenewal: response) }
        guard let token = SignOnToken(answer: response.body, to: client, now: environment.now()) else {
            throw InletError(
                .malformedData, "AWS answered the single sign-on renewal without a token. \(signIn)")
        }
        return token
    }

    /// Explains a rejection. The text quotes only the name of the error, because the response may repeat what was sent.
    private func refusal(ofRenewal response: AWSResponse) -> InletError {
        let given = response.header("x-amzn-errortype") ?? ""
        let name = String(given.prefix(upToByte: ":").split(atByte: "#").last ?? "").sanitized(limit: 64)
        let context = InletError.Context(operation: "CreateToken", nativeCode: Int32(clamping: response.status))
        if response.status == 429 || response.status >= 500 || name.isSameBytes(as: "SlowDownException") {
            return InletError(
                .serverUnavailable, "AWS cannot renew the single sign-on now (\(response.status)). Try later.",
                context: context)
        }
        return InletError(
            .authenticationFailed,
            """
            AWS no longer renews the single sign-on of the profile '\(profileName)' \
            (\(response.status) \(name)). \(signIn)
            """, context: context)
    }
}
