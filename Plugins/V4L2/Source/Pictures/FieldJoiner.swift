import InletCore

/// The state of a source whose frames are joined from fields.
struct FieldJoiner {
    /// The first field of a frame, which is waiting for the other one.
    struct Kept {
        /// The memory of the frame; nil if no memory was free.
        var lease: BlockLease?
        var time: MonotonicTime?
        var isDamaged: Bool
        var isWhole: Bool
    }

    let weave: FieldWeave
    var pairing: FieldPairing
    var kept: Kept?
    /// The number of incomplete frames since the last delivered one.
    var incomplete: UInt64 = 0

    /// Returns a joiner if a buffer does not hold a complete picture, and the field order as far as it is known in
    /// advance.
    static func prepared(for picture: CapturePicture) -> (Self?, FieldOrder) {
        let joiner = Self(weave: FieldWeave(picture), pairing: FieldPairing(picture.standardOrder))
        return switch picture.fields {
        case .whole(let order): (nil, order)
        case .sequential(let order): (joiner, order)
        case .alternating: (joiner, picture.standardOrder)
        }
    }

    /// Prepares for a driver that counts from the beginning.
    mutating func restart() {
        pairing.restart()
        (kept, incomplete) = (nil, 0)
    }
}
