import InletCore

/// Credentials for another identity provider's token, such as that of a Kubernetes pod: AssumeRoleWithWebIdentity of
/// the Security Token Service
/// (https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html).
extension AWSCredentialsChain {
    /// A role, and the file with the token for it.
    private struct Identity {
        var role: String
        var tokenFile: String
        var session: String?
        var origin: String
    }

    private static let stsLimit = Duration.seconds(5)
    private static let longestRole = 2048
    private static let longestIdentityToken = 20_000

    /// Returns credentials for the token named by the environment, or else by the profile; nil if neither names one.
    func fromWebIdentity() async throws(InletError) -> Found? {
        guard let identity = try identity() else { return nil }
        guard let text = try environment.file(identity.tokenFile) else {
            throw InletError(
                .notFound,
                """
                The file '\(identity.tokenFile)' with the web identity token of \(identity.origin) does not exist. Check that \
                it is mounted.
                """)
        }
        let token = String(text.trimmed())
        guard !token.isEmpty, token.utf8.count <= Self.longestIdentityToken,
            token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw InletError(.malformedData, "'\(identity.tokenFile)' contains no web identity token.")
        }
        let session = identity.session ?? "inlet-\(environment.now())"
        let fields = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", identity.role),
            ("RoleSessionName", session), ("WebIdentityToken", token),
        ]
        let response = try await environment.http(
            AWSRequest(
                method: "POST", url: "\(try securityTokenService())/",
                headers: [.init("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")],
                body: fields.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&"),
                limit: Self.stsLimit))
        guard response.status == 200 else { throw Self.refusal(response, of: identity.role) }
        func value(_ name: String) -> String? { Self.element(name, in: response.body) }
        guard let key = value("AccessKeyId"), let secret = value("SecretAccessKey"),
            let sessionToken = value("SessionToken")
        else {
            throw InletError(.malformedData, "The Security Token Service returned no credentials.")
        }
        let credentials = AWSCredentials(
            accessKeyID: key, secretAccessKey: secret, sessionToken: sessionToken,
            expiration: value("Expiration").flatMap(AWSTime.parse)?.seconds)
        try credentials.validate()
        return Found(credentials: credentials, origin: "the web identity of \(identity.origin)")
    }

    private func identity() throws(InletError) -> Identity? {
        var found: Identity?
        if profile == nil, let file = environment.variable("AWS_WEB_IDENTITY_TOKEN_FILE") {
            guard let role = environment.variable("AWS_ROLE_ARN") else {
                throw InletError(
                    .invalidConfiguration,
                    "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not. Set both or neither.")
            }
            found = Identity(
                role: role, tokenFile: file, session: environment.variable("AWS_ROLE_SESSION_NAME"),
                origin: "AWS_ROLE_ARN")
        } else {
            let files = try files()
            func setting(_ name: String) -> String? {
                files.lazy.compactMap { $0.setting(name, of: profileName) }.first
            }
            if let file = setting("web_identity_token_file") {
                guard let role = setting("role_arn") else {
                    throw InletError(
                        .invalidConfiguration,
                        "The profile '\(profileName)' has web_identity_token_file but no role_arn.")
                }
                found = Identity(
                    role: role, tokenFile: file, session: setting("role_session_name"),
                    origin: "the profile '\(profileName)'")
            }
        }
        guard let found else { return nil }
        func isPlain(_ text: String, upTo most: Int) -> Bool {
            (1...most).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        }
        guard isPlain(found.role, upTo: Self.longestRole), found.role.hasBytePrefix("arn:") else {
            throw InletError(.invalidConfiguration, "The role of \(found.origin) is not an ARN. Check AWS_ROLE_ARN.")
        }
        if let session = found.session, !isPlain(session, upTo: 64) {
            throw InletError(
                .invalidConfiguration, "The role's session name must have 2 to 64 letters, digits and _=,.@-.")
        }
        return found
    }

    /// The address of the service, the region's or the global one, without a slash at the end.
    private func securityTokenService() throws(InletError) -> String {
        if let given = try endpoint("AWS_ENDPOINT_URL_STS", of: "the Security Token Service") { return given }
        var place = givenRegion
        if place == nil { place = try region() }
        guard let place else { return "https://sts.amazonaws.com" }
        try KinesisConfiguration.check(region: place)
        return "https://sts.\(place).amazonaws.com" + (place.hasBytePrefix("cn-") ? ".cn" : "")
    }

    /// Returns the address of a service that the environment names, without a slash at the end; nil if it names none.
    ///
    /// - Parameter variable: the variable of the service, which takes precedence over `AWS_ENDPOINT_URL`.
    func endpoint(_ variable: String, of service: String) throws(InletError) -> String? {
        guard let given = environment.variable(variable) ?? environment.variable("AWS_ENDPOINT_URL") else { return nil }
        // The data to send is as secret as a password.
        guard Self.isTrusted(given), !given.contains(byte: "?"), given.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw InletError(
                .addressRefused, "The endpoint of \(service) must be https: or an address of this machine.")
        }
        return given.hasByteSuffix("/") ? String(given.dropLast()) : given
    }

    /// Explains a rejection, without the token.
    private static func refusal(_ response: AWSResponse, of role: String) -> InletError {
        let name = element("Code", in: response.body) ?? ""
        let said = element("Message", in: response.body).map { " AWS's message: \($0.sanitized(limit: 300))" } ?? ""
        let (code, message): (InletError.Code, String) =
            switch name {
            case "ExpiredTokenException", "ExpiredToken":
                (
                    .authenticationFailed,
                    "The web identity token has expired. The program that writes its file must renew it.\(said)"
                )
            case "InvalidIdentityToken":
                (
                    .authenticationFailed,
                    "AWS does not accept the web identity token. Check its issuer and its audience.\(said)"
                )
            case "AccessDenied", "AccessDeniedException":
                (
                    .authenticationFailed,
                    "AWS denied the role '\(role)': its trust policy does not name this identity.\(said)"
                )
            case "IDPRejectedClaim":
                (.authenticationFailed, "The identity provider rejected the web identity token.\(said)")
            case "RegionDisabledException":
                (.authenticationFailed, "The Security Token Service is disabled in this region for the account.\(said)")
            case "IDPCommunicationError", "Throttling", "ThrottlingException":
                (.serverUnavailable, "AWS cannot check the web identity token now (\(name)). Try again later.\(said)")
            case _ where response.status == 429 || response.status >= 500:
                (.serverUnavailable, "The Security Token Service is unavailable (\(response.status)). Try later.")
            default:
                (
                    .invalidConfiguration,
                    "AWS refused the role '\(role)' (\(response.status) \(name.sanitized(limit: 64))).\(said)"
                )
            }
        return InletError(
            code, message,
            context: .init(operation: "AssumeRoleWithWebIdentity", nativeCode: Int32(clamping: response.status)))
    }

    /// Returns the text of the first element with a name, which must have neither attributes nor nested elements; nil
    /// if there is no such element. The service's responses have this form.
    static func element(_ name: String, in text: String) -> String? {
        guard let start = text.firstRange(ofBytes: "<\(name)>"),
            let end = text[start.upperBound...].firstRange(ofBytes: "</\(name)>")
        else { return nil }
        let content = text[start.upperBound..<end.lowerBound]
        guard !content.contains(byte: "<") else { return nil }
        let entities = [("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("amp", "&")]
        let parts = content.split(atByte: "&")
        var result = String(parts[0])
        for part in parts.dropFirst() {
            guard let end = part.firstIndex(ofByte: ";"),
                let known = entities.first(where: { part[..<end].isSameBytes(as: $0.0) })
            else { return nil }
            result += known.1 + part[part.index(after: end)...]
        }
        return result
    }
}
