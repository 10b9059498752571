public import InletCore

/// The name of one run of a peer: a peer that restarts, for example after a crash, has another one under the same
/// ``PeerID``.
///
/// It stays the same while a peer reconnects to a service. 1 to 64 visible ASCII characters.
public struct SignalingInstance: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length of a name in bytes.
    public static let longest = 64

    /// The name.
    public let description: String

    /// Checks a name.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for a name that is empty, too long, or has a character other
    ///   than the visible ones of ASCII.
    public init(_ name: String) throws(InletError) {
        guard SignalingText.isVisible(name, upTo: Self.longest) else {
            throw InletError(
                .invalidConfiguration, "The name of an instance has 1 to \(Self.longest) visible ASCII characters.")
        }
        description = name
    }

    /// Creates a name that no other instance has: 128 random bits.
    public init() { description = RandomName.make() }
}
