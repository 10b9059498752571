import InletCore

/// Finds credentials in the same places as AWS's own tools, in their order: environment variables, a web identity, the
/// profile of the shared files (its keys or its program), the container's service, the service of an EC2 instance. They
/// are never part of a URI.
struct AWSCredentialsChain: Sendable {
    /// Credentials and their origin, in words without secrets.
    struct Found: Sendable {
        var credentials: AWSCredentials
        var origin: String
    }

    /// The profile of the shared files; nil for the one in `AWS_PROFILE`, or `default`.
    var profile: String?
    /// The region of the service that exchanges tokens; nil for that of the environment or the profile.
    var givenRegion: String?
    var environment: AWSEnvironment

    private static let (containerLimit, instanceLimit) = (Duration.seconds(2), Duration.seconds(1))
    private static let longestToken = 16_384

    /// Returns credentials from the first place that has them.
    ///
    /// - Throws: ``InletError/Code/authenticationFailed``, naming the searched places, if none has credentials, and
    ///   the error of a place whose credentials cannot be used.
    func find() async throws(InletError) -> Found {
        // A profile requested by name takes precedence over the environment.
        if profile == nil, let found = try fromVariables() { return found }
        if let found = try await fromWebIdentity() { return found }
        if let found = try await fromFiles() { return found }
        if let found = try await fromContainer() { return found }
        if let found = try await fromInstance() { return found }
        throw InletError(
            .authenticationFailed,
            """
            No credentials for AWS were found: not in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not in the profile \
            '\(profileName)' of \(path("AWS_SHARED_CREDENTIALS_FILE", "credentials")), and no container's or \
            instance's service has any. Set some, for example with 'aws configure'.
            """)
    }

    /// Returns the region of the environment or the profile; nil if neither has one.
    func region() throws(InletError) -> String? {
        for name in ["AWS_REGION", "AWS_DEFAULT_REGION"] {
            if profile == nil, let region = environment.variable(name) { return region }
        }
        return try files().lazy.compactMap { $0.setting("region", of: profileName) }.first
    }

    var profileName: String { profile ?? environment.variable("AWS_PROFILE") ?? "default" }

    private func path(_ variable: String, _ name: String) -> String {
        environment.variable(variable) ?? "\(environment.variable("HOME") ?? "~")/.aws/\(name)"
    }

    private func fromVariables() throws(InletError) -> Found? {
        guard let key = environment.variable("AWS_ACCESS_KEY_ID") else { return nil }
        guard let secret = environment.variable("AWS_SECRET_ACCESS_KEY") else {
            throw InletError(
                .invalidConfiguration,
                "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not. Set both or neither.")
        }
        let credentials = AWSCredentials(
            accessKeyID: key, secretAccessKey: secret, sessionToken: environment.variable("AWS_SESSION_TOKEN"))
        try credentials.validate()
        return Found(credentials: credentials, origin: "environment variables")
    }

    /// The existing shared files, in order of precedence.
    func files() throws(InletError) -> [AWSProfileFile] {
        var files: [AWSProfileFile] = []
        for (variable, name) in [("AWS_SHARED_CREDENTIALS_FILE", "credentials"), ("AWS_CONFIG_FILE", "config")] {
            let path = path(variable, name)
            guard let text = try environment.file(path) else { continue }
            files.append(try AWSProfileFile(text, isConfig: name == "config", path: path))
        }
        return files
    }

    private func fromFiles() async throws(InletError) -> Found? {
        let name = profileName
        let files = try files()
        // As by AWS's tools, the program comes after the file of keys and before keys in the configuration.
        for file in files where !file.isConfig { if let found = try keys(in: file) { return found } }
        if let command = files.lazy.compactMap({ $0.setting("credential_process", of: name) }).first {
            return try await fromProgram(command)
        }
        for file in files where file.isConfig { if let found = try keys(in: file) { return found } }
        for setting in ["sso_session", "sso_start_url", "login_session", "role_arn"] {
            guard let file = files.first(where: { $0.setting(setting, of: name) != nil }) else { continue }
            throw unsupported(setting, in: file)
        }
        if !files.contains(where: { $0.has(name) }), profile != nil || environment.variable("AWS_PROFILE") != nil {
            throw InletError(.notFound, "There is no profile '\(name)' in the shared files of AWS. Check its spelling.")
        }
        return nil
    }

    private func keys(in file: AWSProfileFile) throws(InletError) -> Found? {
        let name = profileName
        guard let key = file.setting("aws_access_key_id", of: name) else { return nil }
        guard let secret = file.setting("aws_secret_access_key", of: name) else {
            throw InletError(
                .invalidConfiguration,
                "The profile '\(name)' of '\(file.path)' has aws_access_key_id but no aws_secret_access_key.")
        }
        let credentials = AWSCredentials(
            accessKeyID: key, secretAccessKey: secret, sessionToken: file.setting("aws_session_token", of: name))
        try credentials.validate()
        return Found(credentials: credentials, origin: "profile '\(name)' of '\(file.path)'")
    }

    private func fromContainer() async throws(InletError) -> Found? {
        let url: String
        if let relative = environment.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            guard relative.hasBytePrefix("/") else {
                throw InletError(
                    .invalidConfiguration, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with a slash.")
            }
            url = "http://169.254.170.2\(relative)"
        } else if let full = environment.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            guard Self.isTrusted(full) else {
                throw InletError(
                    .addressRefused,
                    """
                    AWS_CONTAINER_CREDENTIALS_FULL_URI must be https:, or an address of this machine or of the \
                    container's service.
                    """)
            }
            url = full
        } else {
            return nil
        }
        var token = environment.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        if let path = environment.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            token = (try environment.file(path)).map { String($0.trimmed()) } ?? token
        }
        var request = AWSRequest(method: "GET", url: url, limit: Self.containerLimit)
        if let token {
            guard token.utf8.count <= Self.longestToken, token.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw InletError(.invalidConfiguration, "The token for the container's credentials is malformed.")
            }
            request.headers = [.init("Authorization", token)]
        }
        let response = try await environment.http(request)
        guard response.status == 200 else {
            throw InletError(
                .authenticationFailed,
                "The container's credential service answered with status \(response.status). Check the task's role.")
        }
        return try Self.temporary(response.body, origin: "the container's service")
    }

    /// Returns whether an address may be asked for credentials: over TLS, or on this machine (as in AWS's tools).
    static func isTrusted(_ url: String) -> Bool {
        if url.hasBytePrefix("https://") { return true }
        guard url.hasBytePrefix("http://") else { return false }
        let authority = url.dropFirst(7).prefix(upToByte: "/").prefix(upToByte: "?")
        guard !authority.contains(byte: "@") else { return false }
        let host =
            authority.hasBytePrefix("[")
            ? authority.dropFirst().prefix(upToByte: "]") : authority.prefix(upToByte: ":")
        let isLoopback =
            host.hasBytePrefix("127.") && host.utf8.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
        return isLoopback
            || ["localhost", "::1", "169.254.170.2", "169.254.170.23", "fd00:ec2::23"]
                .contains { host.isSameBytes(as: $0) }
    }

    private func fromInstance() async throws(InletError) -> Found? {
        if let disabled = environment.variable("AWS_EC2_METADATA_DISABLED"),
            disabled.lowercasedASCII.isSameBytes(as: "true")
        {
            return nil
        }
        let base = environment.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? "http://169.254.169.254"
        let root = base.hasByteSuffix("/") ? String(base.dropLast()) : base
        // Outside EC2 no server answers, which is not an error.
        guard
            let token = try? await environment.http(
                AWSRequest(
                    method: "PUT", url: "\(root)/latest/api/token",
                    headers: [.init("X-aws-ec2-metadata-token-ttl-seconds", "21600")], limit: Self.instanceLimit)),
            token.status == 200, !token.body.isEmpty, token.body.utf8.count <= Self.longestToken,
            token.body.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        func read(_ path: String) async throws(InletError) -> AWSResponse {
            try await environment.http(
                AWSRequest(
                    method: "GET", url: "\(root)/latest/meta-data/iam/security-credentials/\(path)",
                    headers: [.init("X-aws-ec2-metadata-token", token.body)], limit: Self.instanceLimit))
        }
        let roles = try await read("")
        guard roles.status == 200, let role = roles.body.split(atByte: "\n", keepsEmpty: false).first else {
            return nil
        }
        let response = try await read(PercentEncoding.encode(role.trimmed()))
        guard response.status == 200 else {
            throw InletError(
                .authenticationFailed,
                "The instance's credential service answered with status \(response.status). Check its role.")
        }
        return try Self.temporary(response.body, origin: "the instance's role '\(role.trimmed())'")
    }

    /// Parses the credentials that the services of containers and instances return.
    private static func temporary(_ body: String, origin: String) throws(InletError) -> Found {
        guard let members = (try? JSONReader.read(Array(body.utf8)))?.members,
            let found = try found(in: members, token: "Token", origin: origin)
        else {
            throw InletError(.malformedData, "The response of \(origin) contains no credentials.")
        }
        return found
    }

    /// Returns the credentials in a JSON object; nil if it contains none.
    ///
    /// - Parameter token: the name of the member with the session token.
    /// - Throws: ``InletError/Code/malformedData`` if the expiry cannot be read: the credentials would never be
    ///   renewed.
    static func found(in members: [JSONMember], token: String, origin: String) throws(InletError) -> Found? {
        func text(_ name: String) -> String? { members.first { $0.key.isSameBytes(as: name) }?.value.text }
        guard let key = text("AccessKeyId"), let secret = text("SecretAccessKey") else { return nil }
        let expiration = text("Expiration").map(AWSTime.parse)
        if case .some(nil) = expiration {
            throw InletError(
                .malformedData,
                "The Expiration of the credentials from \(origin) is not a time such as 2026-01-31T12:00:00Z.")
        }
        let credentials = AWSCredentials(
            accessKeyID: key, secretAccessKey: secret, sessionToken: text(token), expiration: expiration??.seconds)
        try credentials.validate()
        return Found(credentials: credentials, origin: origin)
    }
}
