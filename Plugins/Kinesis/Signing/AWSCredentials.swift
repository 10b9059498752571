import InletCore

/// An access key of AWS. A secret: its descriptions show only the key's identifier.
struct AWSCredentials: Sendable, Hashable {
    /// The identifier of the access key, which is not secret.
    var accessKeyID: String
    /// The secret access key.
    var secretAccessKey: String
    /// The session token of temporary credentials; nil for permanent ones.
    var sessionToken: String?
    /// The time when temporary credentials expire, in seconds since 1970; nil if they do not expire or the time is
    /// unknown.
    var expiration: Int64?

    init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expiration: Int64? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
        self.expiration = expiration
    }

    /// Checks that the parts are valid in headers.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``, which quotes no part.
    func validate() throws(InletError) {
        let parts = [accessKeyID, secretAccessKey] + (sessionToken.map { [$0] } ?? [])
        guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }),
            parts.allSatisfy({ $0.utf8.count <= 16_384 }), !accessKeyID.contains(byte: "/")
        else {
            throw InletError(
                .invalidConfiguration,
                "The credentials for AWS are empty, or contain spaces or non-ASCII characters. Copy them again.")
        }
    }
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The identifier of the key, and whether it is temporary.
    var description: String { "\(accessKeyID)\(sessionToken == nil ? "" : ", temporary")" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }
}
