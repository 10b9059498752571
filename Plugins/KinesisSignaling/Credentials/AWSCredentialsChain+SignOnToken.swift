import Crypto
import InletCore
import InletRTC

/// The token of a single sign-on: read from the file where AWS's tools keep it, and renewed there before it expires by
/// CreateToken of AWS's OIDC service
/// (https://docs.aws.amazon.com/singlesignon/latest/OIDCAPIReference/API_CreateToken.html).
extension AWSCredentialsChain {
    /// How long before its end a token is renewed, in seconds: botocore's `_REFRESH_WINDOW`.
    private static let refreshWindow: Int64 = 900
    private static let oidcLimit = Duration.seconds(5)

    /// Returns the token of a sign-on. One of an `sso_session` is renewed if it ends within a quarter of an hour.
    ///
    /// - Returns: the token, and what went wrong although there is one, in words without secrets.
    /// - Throws: ``InletError/Code/authenticationFailed`` if the user has to sign in, and the error of the renewal if
    ///   the token has expired and the service cannot be reached.
    func signOnToken(_ signOn: SignOn) async throws(InletError) -> (text: String, warning: String?) {
        let path = signOnPath(signOn)
        let token = try readToken(path)
        let now = environment.now()
        guard signOn.session != nil, token.expiration - now < Self.refreshWindow,
            let renewal = token.renewal(now: now)
        else {
            try expect(token, now)
            return (token.access, nil)
        }
        let renewed: SignOnToken
        do throws(InletError) {
            renewed = try await renew(renewal.client, renewal.refresh, signOn)
        } catch {
            // Another program may have renewed it meanwhile, after which its refresh token is void.
            let current = try readToken(path)
            guard current.expiration > now, error.code != .cancelled else { throw error }
            guard current.access.isSameBytes(as: token.access) else { return (current.access, nil) }
            return (current.access, "The single sign-on of the profile '\(profileName)' ends soon. \(error.message)")
        }
        do throws(InletError) {
            try environment.write(renewed.file(start: signOn.start, region: signOn.region), path)
        } catch {
            return (
                renewed.access,
                "The single sign-on of the profile '\(profileName)' was renewed, but not kept. \(error.message)"
            )
        }
        return (renewed.access, nil)
    }

    /// Returns the path of the token's file, which is named by the session, or else by the start URL.
    private func signOnPath(_ signOn: SignOn) -> String {
        let digest = Insecure.SHA1.hash(data: Array((signOn.session ?? signOn.start).utf8))
        let hex = digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(environment.variable("HOME") ?? "~")/.aws/sso/cache/\(hex).json"
    }

    private func readToken(_ path: String) throws(InletError) -> SignOnToken {
        guard let text = try environment.file(path) else {
            throw InletError(
                .authenticationFailed,
                "The profile '\(profileName)' is not signed in: there is no file '\(path)'. \(signIn)")
        }
        guard let token = SignOnToken(file: text) else {
            throw InletError(.malformedData, "'\(path)' holds no token of a single sign-on. \(signIn)")
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

    /// Has a new token issued for a refresh token.
    private func renew(
        _ client: SignOnToken.Registration, _ refresh: String, _ signOn: SignOn
    ) async throws(InletError) -> SignOnToken {
        let given = try endpoint("AWS_ENDPOINT_URL_SSO_OIDC", of: "the renewal of single sign-on")
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
                .malformedData, "What AWS answers to the renewal of the single sign-on is no token. \(signIn)")
        }
        return token
    }

    /// What a refusal means, in words. Nothing of the answer is in them but the name of the error, as it may repeat
    /// what was sent.
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
            AWS does not renew the single sign-on of the profile '\(profileName)' any more \
            (\(response.status) \(name)). \(signIn)
            """, context: context)
    }
}
