/// A detection that a source made in its picture, as cameras do.
public struct SourceDetection: Sendable, Hashable {
    /// The kind of detection.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Something moves.
        case motion
        /// The camera is covered, turned away or out of focus.
        case tampering
    }

    /// The kind of detection.
    public var kind: Kind
    /// Whether it begins; false if it ends.
    public var isActive: Bool

    public init(_ kind: Kind, isActive: Bool) {
        self.kind = kind
        self.isActive = isActive
    }
}
