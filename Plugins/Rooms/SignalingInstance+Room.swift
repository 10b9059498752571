import InletCore
import InletDigest
import InletRTC

/// The instance of a member that enters a room. It is a secret between the member and the server: a connection that
/// presents it replaces the member's earlier connection. Other members see only ``shownToMembers``.
extension SignalingInstance {
    /// The minimum number of bytes, so that an instance cannot be found by computing digests.
    static let fewestBytes = 16

    /// Parses the instance in a request that enters a room.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if it is too short to be a secret.
    init(ofMember secret: String) throws(InletError) {
        guard secret.utf8.count >= Self.fewestBytes else {
            throw InletError(
                .invalidConfiguration,
                "A member's instance has at least \(Self.fewestBytes) characters. It is a secret: choose them at "
                    + "random.")
        }
        try self.init(secret)
    }

    /// The instance that members of a room see: the first 128 bits of its SHA-256.
    var shownToMembers: SignalingInstance {
        let digits = MessageDigest.sha256.hash(Array(description.utf8)).prefix(16).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return (try? SignalingInstance(digits.joined())) ?? SignalingInstance()
    }
}
