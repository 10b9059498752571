import InletCore
import Logging

/// The credentials for one user of the chain. They are found when first needed, and again before they expire.
actor AWSCredentialsCache {
    private let chain: AWSCredentialsChain
    private let logger: Logger
    private var found: AWSCredentialsChain.Found?
    private var origin: String?
    /// The time before expiry at which credentials are searched for again, in seconds.
    private static let margin: Int64 = 300

    init(_ chain: AWSCredentialsChain, _ logger: Logger) {
        self.chain = chain
        self.logger = logger
    }

    /// Returns credentials that are valid for at least five minutes, or as long as possible.
    ///
    /// Concurrent calls may each search.
    ///
    /// - Throws: as ``AWSCredentialsChain/find()``, unless the earlier credentials have not expired.
    func credentials() async throws(InletError) -> AWSCredentials {
        let now = chain.environment.now()
        if let found, (found.credentials.expiration ?? .max) > now + Self.margin { return found.credentials }
        do throws(InletError) {
            let new = try await chain.find()
            if let expiration = new.credentials.expiration, expiration <= now {
                throw InletError(
                    .authenticationFailed,
                    "The credentials of AWS from \(new.origin) have expired. Renew them, and check the clock.")
            }
            if origin != new.origin { logger.info("credentials for AWS from \(new.origin)") }
            (found, origin) = (new, new.origin)
            return new.credentials
        } catch {
            if let found, (found.credentials.expiration ?? .max) > now { return found.credentials }
            throw error
        }
    }

    /// Discards the credentials, because the service rejected them.
    func forget() { found = nil }
}
