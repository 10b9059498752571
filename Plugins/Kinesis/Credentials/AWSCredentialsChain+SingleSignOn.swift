import InletCore

/// Credentials from AWS's single sign-on (IAM Identity Center): the token that `aws sso login` stores in a file is
/// exchanged for those of a role by GetRoleCredentials
/// (https://docs.aws.amazon.com/singlesignon/latest/PortalAPIReference/API_GetRoleCredentials.html).
extension AWSCredentialsChain {
    /// The settings of a profile for its sign-on.
    struct SignOn {
        var start, region, account, role: String
        /// The `sso_session`; nil for a profile that itself has the start URL.
        var session: String?
    }

    private static let portalLimit = Duration.seconds(5)
    private static let longestSetting = 2048

    /// Returns credentials from the profile's sign-on; nil if the profile names neither a role nor an account for it.
    func fromSingleSignOn() async throws(InletError) -> Found? {
        guard let signOn = try signOn() else { return nil }
        let token = try await signOnToken(signOn)
        let portal = try endpoint("AWS_ENDPOINT_URL_SSO", of: "the single sign-on portal")
        let suffix = signOn.region.hasBytePrefix("cn-") ? ".cn" : ""
        let base = portal ?? "https://portal.sso.\(signOn.region).amazonaws.com\(suffix)"
        let query = [("role_name", signOn.role), ("account_id", signOn.account)]
            .map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        let response = try await environment.http(
            AWSRequest(
                method: "GET", url: "\(base)/federation/credentials?\(query)",
                headers: [.init("x-amz-sso_bearer_token", token.text)], limit: Self.portalLimit))
        guard response.status == 200 else { throw refusal(response, of: signOn) }
        func member(_ name: String, of value: JSONValue?) -> JSONValue? {
            value?.members?.first { $0.key.isSameBytes(as: name) }?.value
        }
        let given = member("roleCredentials", of: try? JSONReader.read(Array(response.body.utf8)))
        guard let key = member("accessKeyId", of: given)?.text,
            let secret = member("secretAccessKey", of: given)?.text,
            let sessionToken = member("sessionToken", of: given)?.text,
            let milliseconds = member("expiration", of: given)?.number.flatMap({ Int64($0) })
        else {
            throw InletError(.malformedData, "The single sign-on portal returned no credentials.")
        }
        let credentials = AWSCredentials(
            accessKeyID: key, secretAccessKey: secret, sessionToken: sessionToken, expiration: milliseconds / 1000)
        try credentials.validate()
        return Found(
            credentials: credentials, origin: "the single sign-on of the profile '\(profileName)'",
            warning: token.warning)
    }

    private func signOn() throws(InletError) -> SignOn? {
        let files = try files()
        let profile = profileName
        func ofProfile(_ name: String) -> String? { files.lazy.compactMap { $0.0.setting(name, of: profile) }.first }
        let (account, role) = (ofProfile("sso_account_id"), ofProfile("sso_role_name"))
        guard account != nil || role != nil else { return nil }
        let session = ofProfile("sso_session")
        func wanted(_ name: String) throws(InletError) -> String {
            let own = ofProfile(name)
            let shared = session.flatMap { session in
                files.lazy.compactMap { $0.0.setting(name, ofSession: session) }.first
            }
            if let own, let shared, !own.isSameBytes(as: shared) {
                throw InletError(
                    .invalidConfiguration,
                    "The profile '\(profileName)' and its sso_session have different values of \(name). Keep one.")
            }
            guard let value = own ?? shared else {
                throw InletError(
                    .invalidConfiguration,
                    """
                    The profile '\(profileName)' has no \(name) for its single sign-on. Set it: aws configure sso \
                    --profile \(profileName).
                    """)
            }
            guard value.utf8.count <= Self.longestSetting, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw InletError(
                    .invalidConfiguration,
                    "\(name) of the profile '\(profileName)' must have at most \(Self.longestSetting) ASCII characters."
                )
            }
            return value
        }
        if let session, !files.contains(where: { $0.0.hasSession(session) }) {
            throw InletError(
                .invalidConfiguration,
                "The profile '\(profileName)' names the sso_session '\(session)', which the shared files do not contain."
            )
        }
        let start = try wanted("sso_start_url")
        let signOn = SignOn(
            start: start, region: try wanted("sso_region"), account: try wanted("sso_account_id"),
            role: try wanted("sso_role_name"), session: session)
        try KinesisConfiguration.check(region: signOn.region)
        return signOn
    }

    /// Explains a rejection, without the token.
    private func refusal(_ response: AWSResponse, of signOn: SignOn) -> InletError {
        let members = (try? JSONReader.read(Array(response.body.utf8)))?.members ?? []
        func text(_ name: String) -> String? { members.first { $0.key.isSameBytes(as: name) }?.value.text }
        let given = response.header("x-amzn-errortype") ?? text("__type") ?? ""
        let name = String(given.prefix(upToByte: ":").split(atByte: "#").last ?? "")
        let said = text("message").map { " AWS's message: \($0.sanitized(limit: 300))" } ?? ""
        let role = "the role '\(signOn.role)' of the account '\(signOn.account)'"
        let (code, message): (InletError.Code, String) =
            switch name {
            case "UnauthorizedException":
                (
                    .authenticationFailed,
                    """
                    AWS no longer accepts the single sign-on of the profile '\(profileName)'. Sign in: aws sso \
                    login --profile \(profileName).\(said)
                    """
                )
            case "ForbiddenException", "AccessDeniedException":
                (.authenticationFailed, "The signed-in user is not allowed to use \(role).\(said)")
            case "ResourceNotFoundException":
                (
                    .notFound,
                    """
                    The account '\(signOn.account)' has no role '\(signOn.role)', or the user is not allowed to see it. Check \
                    sso_role_name and sso_account_id.\(said)
                    """
                )
            case "TooManyRequestsException":
                (.serverUnavailable, "The single sign-on portal received too many requests. Try again later.\(said)")
            case _ where response.status == 429 || response.status >= 500:
                (.serverUnavailable, "The single sign-on portal is unavailable (\(response.status)). Try later.")
            default:
                (
                    .invalidConfiguration,
                    "AWS refused \(role) (\(response.status) \(name.sanitized(limit: 64))).\(said)"
                )
            }
        return InletError(
            code, message,
            context: .init(operation: "GetRoleCredentials", nativeCode: Int32(clamping: response.status)))
    }
}
