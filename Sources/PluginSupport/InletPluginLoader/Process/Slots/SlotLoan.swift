/// Keeps a slot of a shared segment, and the segment, for as long as a frame is referenced.
final class SlotLoan: Sendable {
    private let segment: SharedSegment
    private let slot: Int

    /// Takes a free slot.
    init(of segment: SharedSegment, slot: Int) {
        segment.take(slot)
        self.segment = segment
        self.slot = slot
    }

    deinit { segment.giveBack(slot) }
}
