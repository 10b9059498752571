/// How the rows of a picture were taken: all at once, or every other row half a frame later.
///
/// Metadata: pixels are not changed by it. An interlaced picture that is scaled vertically or rotated by a quarter turn
/// no longer has separate fields.
public enum FieldOrder: String, Sendable, Hashable, CaseIterable {
    /// All rows at once, or unknown.
    case progressive
    /// The rows with even numbers, from the top one on, were taken first.
    case topFirst
    /// The rows with odd numbers were taken first.
    case bottomFirst

    /// The order after the picture was flipped: the other field then holds the top row.
    public var flipped: FieldOrder {
        switch self {
        case .progressive: .progressive
        case .topFirst: .bottomFirst
        case .bottomFirst: .topFirst
        }
    }
}
