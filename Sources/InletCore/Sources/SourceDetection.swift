/// What a source has detected in its picture by itself, as cameras do.
public struct SourceDetection: Sendable, Hashable {
    /// What is detected.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Something moves.
        case motion
        /// The camera is covered, turned away or out of focus.
        case tampering
    }

    /// What is detected.
    public var kind: Kind
    /// Whether it begins; false if it ends.
    public var isActive: Bool

    public init(_ kind: Kind, isActive: Bool) {
        self.kind = kind
        self.isActive = isActive
    }
}
