import InletCore

/// Finds the two fields of each frame of a device that delivers every field in a separate buffer
/// (`V4L2_FIELD_ALTERNATE`). Pure.
///
/// The fields of a frame have the same number, and the older one comes first (`sequence` in
/// `Documentation/userspace-api/media/v4l/buffer.rst`). Some drivers count fields instead, and some do not count. A
/// field whose other half was lost is never paired with one of another frame.
struct FieldPairing {
    /// The rows of a frame that a field contains.
    enum Parity: Sendable, Hashable {
        /// The rows with even numbers, including the top one.
        case top
        case bottom
    }

    /// The role of a field.
    enum Step: Sendable, Hashable {
        /// The first field of a frame.
        case first
        /// The other field of the frame that began with the previous field. The number is the frame's.
        case second(FieldOrder, number: UInt32)
        /// The second field of a frame whose first one was lost.
        case unpaired
    }

    private struct Field {
        var parity: Parity
        var number: UInt32
    }

    /// The parity of first fields, used if the numbers do not reveal it.
    private let first: Parity
    private var held: Field?
    private var last: Field?
    /// The number of the last complete frame.
    private var completed: UInt32?
    private var countsFields = false
    /// Whether two fields have had the same number.
    private var sharesNumbers = false
    private var steps = 0

    /// The number of consecutive fields with consecutive numbers after which the driver is assumed to count fields.
    /// With frame numbers, this would require a loss of two fields after every second or third field.
    private static let proof = 6

    /// - Parameter order: the field order prescribed by the video standard.
    init(_ order: FieldOrder) { first = order == .bottomFirst ? .bottom : .top }

    /// Records a field.
    ///
    /// - Returns: the role of the field, and the numbers of the frames that it reveals to be incomplete.
    mutating func note(_ parity: Parity, number: UInt32) -> (step: Step, incomplete: [UInt32]) {
        learn(parity, number)
        let field = Field(parity: parity, number: number)
        var incomplete: [UInt32] = []
        if let held {
            self.held = nil
            if isPair(held, field) {
                completed = frame(of: held)
                return (.second(held.parity == .top ? .topFirst : .bottomFirst, number: frame(of: held)), [])
            }
            incomplete.append(frame(of: held))
        }
        // A number that does not advance carries no information about the frame.
        let isSecond = parity != first && (countsFields || completed == number)
        if isSecond {
            incomplete.append(frame(of: field))
        } else {
            held = field
        }
        // A stream may begin with the second half of a frame.
        return (isSecond ? .unpaired : .first, completed == nil ? [] : incomplete)
    }

    /// Discards the field that is waiting for its other half, because the driver will count from the beginning.
    mutating func restart() { (held, last, completed, steps) = (nil, nil, nil, 0) }

    private mutating func learn(_ parity: Parity, _ number: UInt32) {
        defer { last = Field(parity: parity, number: number) }
        guard let last, last.parity != parity else {
            steps = 0
            return
        }
        if number == last.number {
            sharesNumbers = true
            countsFields = false
        }
        steps = number == last.number &+ 1 ? steps + 1 : 0
        if steps == Self.proof - 1, !sharesNumbers { countsFields = true }
    }

    private func isPair(_ held: Field, _ field: Field) -> Bool {
        guard held.parity != field.parity else { return false }
        return countsFields ? held.parity == first && field.number == held.number &+ 1 : field.number == held.number
    }

    private func frame(of field: Field) -> UInt32 {
        guard countsFields else { return field.number }
        return (field.parity == first ? field.number : field.number &- 1) / 2
    }
}
