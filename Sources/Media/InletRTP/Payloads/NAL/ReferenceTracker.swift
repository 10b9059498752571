/// Determines from the frame numbers of H.264 whether a loss concerns pictures to which others refer.
///
/// `frame_num` grows by one with the picture after each reference picture (H.264, section 7.4.3), so if it continues as
/// expected, only pictures to which no other refers were lost in between. Only certain cases count: fields are
/// excluded, because both fields of a frame have the same number, and so is a loss of as many packets as an IDR picture
/// and its successors would need to arrive at the same number.
struct ReferenceTracker {
    /// The number of a picture in a slice's header: section 7.3.3.
    struct Number: Equatable {
        var value: Int
        var modulus: Int
        var isField: Bool
    }

    /// The next frame's number; nil if unknown.
    private var expected: Int?
    private var modulus = 0
    /// Packets lost since the last unit that was returned.
    private var lost = 0
    /// Whether a reference picture is known to be lost or wrong.
    private var isReferenceLost = false

    var hasLoss: Bool { lost > 0 || isReferenceLost }

    /// Records packets of unknown pictures as lost.
    mutating func noteLoss(_ count: Int) { lost = lost.addingReportingOverflow(max(0, count)).partialValue & Int.max }

    /// Records that a picture to which others refer is missing or wrong.
    mutating func noteReferenceLoss() { isReferenceLost = true }

    /// Whether it is proven that no picture refers to any picture lost before this one.
    func isHarmless(before number: Number?) -> Bool {
        guard !isReferenceLost, let number, let expected else { return false }
        return !number.isField && number.modulus == modulus && number.value == expected
            && lost < (expected == 0 ? modulus : expected)
    }

    /// Records a unit that was returned, with which the count of losses starts again.
    mutating func noteUnit(_ number: Number?, isReference: Bool?) {
        lost = 0
        isReferenceLost = false
        guard let number, let isReference, !number.isField else {
            expected = nil
            return
        }
        modulus = number.modulus
        expected = (number.value + (isReference ? 1 : 0)) % max(1, number.modulus)
    }
}
