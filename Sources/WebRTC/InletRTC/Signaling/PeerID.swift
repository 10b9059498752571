public import InletCore

/// The name by which a signaling service reaches a peer: 1 to 256 visible ASCII characters.
///
/// Names are compared byte by byte. Characters beyond ASCII are not allowed, because two services could compare them in
/// two ways.
public struct PeerID: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length of a name in bytes.
    public static let longest = 256

    /// The name.
    public let description: String

    /// Checks a name.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` for a name that is empty, too long, or has a character other
    ///   than the visible ones of ASCII.
    public init(_ name: String) throws(InletError) {
        guard SignalingText.isVisible(name, upTo: Self.longest) else {
            throw InletError(
                .invalidConfiguration,
                "A peer's name has 1 to \(Self.longest) visible ASCII characters, without spaces.")
        }
        description = name
    }
}

extension PeerID: Comparable {
    /// Whether a name precedes another by its bytes.
    public static func < (one: PeerID, other: PeerID) -> Bool {
        one.description.utf8.lexicographicallyPrecedes(other.description.utf8)
    }
}
