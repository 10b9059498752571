import InletCore
import InletPrograms

/// Credentials from a program, the `credential_process` of a profile
/// (https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html).
extension AWSCredentialsChain {
    /// Runs a profile's command and returns the credentials that it prints.
    ///
    /// Concurrent calls for the same command get the outcome of one run: the program may exchange a token that can be
    /// used only once.
    func fromProgram(_ command: String) async throws(InletError) -> Found {
        let name = "credential_process of the profile '\(profileName)'"
        let words = try CommandWords.split(command, of: "the \(name)")
        let program = environment.program
        let output = try await environment.programOutcomes.outcome(of: "\(profileName)\n\(command)") {
            () async throws(InletError) in try await program(words, name)
        }
        // The output is never quoted, because it may contain a secret.
        let members = (try? JSONReader.read(Array(output.utf8)))?.members ?? []
        guard members.first(where: { $0.key.isSameBytes(as: "Version") })?.value.number?.isSameBytes(as: "1") == true,
            let found = try Self.found(in: members, token: "SessionToken", origin: "the \(name)")
        else {
            throw InletError(
                .malformedData,
                """
                The output of the \(name) contains no credentials. Its program must print a JSON object with \
                "Version": 1, "AccessKeyId" and "SecretAccessKey".
                """)
        }
        return found
    }

    /// Makes the error for a profile with a setting that only AWS's tools support, with the line that makes them
    /// provide its credentials.
    func unsupported(_ setting: String, in file: AWSProfileFile) -> InletError {
        // Without both, the AWS CLI does not sign in but runs the profile's program, which is itself.
        let missing = ["sso_account_id", "sso_role_name"].filter { file.setting($0, of: profileName) == nil }
        let addition =
            setting.hasBytePrefix("sso_") && !missing.isEmpty
            ? " Also set \(missing.joined(separator: " and ")), as 'aws configure sso' does." : ""
        let export = CommandWords.join([
            "aws", "configure", "export-credentials", "--profile", profileName, "--format", "process",
        ])
        return InletError(
            .unsupported,
            """
            The profile '\(profileName)' of '\(file.path)' has no credentials that can be used, because its \
            \(setting) is not supported. Add the line 'credential_process = \(export)' to the profile, so that \
            version 2 of the AWS CLI provides them.\(addition)
            """)
    }
}
