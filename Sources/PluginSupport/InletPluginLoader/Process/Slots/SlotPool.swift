import CInletPlugin
import InletCore

/// The segments of a source's child: the slots that it may fill, and the state of those that it has filled.
struct SlotPool {
    private let limit: Int
    private(set) var segment: SharedSegment?
    /// The slots of the newest segment that the child may write to now.
    private(set) var granted: UInt64 = 0
    /// How many pictures were copied because all other slots were held.
    private(set) var copies: UInt64 = 0
    /// The bytes of all segments so far.
    private var made = 0

    /// The number of slots of a segment if the limit allows it.
    static let slotCount = 8
    /// The limit of all segments together, as a multiple of the limit of one: a child can keep earlier ones.
    private static let totalShare = 3
    /// A child needs a slot to fill while another one is held.
    private static let leastSlotCount = 2

    /// - Parameter limit: the most bytes of a segment.
    init(limit: Int) { self.limit = max(0, limit) }

    /// Releases the memory, which lives on for the frames that refer to it.
    mutating func end() { (segment, granted) = (nil, 0) }

    /// Grants all free slots, and returns them.
    mutating func grant() -> UInt64 {
        granted = segment?.freeSlots ?? 0
        return granted
    }

    /// Makes a segment with slots of at least a length, and replaces the current one.
    ///
    /// Each segment has slots of at least twice the length of the previous one, so that a child cannot request many.
    mutating func replace(
        slotLength wanted: UInt64, send: (inlet_segment, Int32) throws(InletError) -> Void
    ) throws(InletError) -> Result<Void, PluginLie> {
        let before = self.segment?.slotLength ?? 0
        guard wanted > UInt64(before) else { return .failure(PluginLie("requested memory that it already has")) }
        let alignment = SharedSegment.alignment
        guard let least = Int(exactly: wanted), least <= limit / Self.leastSlotCount else {
            return .failure(
                PluginLie(
                    "requested \(wanted) bytes for a picture; it may share at most \(limit) bytes with Inlet"))
        }
        let grown = max(least, min(limit / Self.leastSlotCount, 2 * before))
        let length = (grown + alignment - 1) / alignment * alignment
        let count = min(Self.slotCount, max(Self.leastSlotCount, limit / length))
        let number = (self.segment?.number ?? 0) + 1
        let (total, overflow) = made.addingReportingOverflow(length * count)
        guard !overflow, total <= Self.totalShare * limit else {
            return .failure(PluginLie("requested other memory too often"))
        }
        made = total
        let segment = try SharedSegment(number: number, slotLength: length, slotCount: count, isWritable: false) {
            descriptor throws(InletError) in
            let message = inlet_segment(
                type: UInt32(INLET_MESSAGE_SEGMENT), number: number, slot_length: UInt64(length),
                slot_count: UInt32(count), reserved: 0)
            try send(message, descriptor)
        }
        self.segment = segment
        granted = segment.freeSlots
        return .success(())
    }

    /// Returns the segment if the child may have filled the slot, and revokes the grant.
    mutating func accept(_ slot: UInt32, of number: UInt32) throws(PluginLie) -> SharedSegment {
        guard let segment, number == segment.number else {
            throw PluginLie("named the memory \(number), which is not its current memory")
        }
        guard slot < UInt32(segment.slotCount), granted & (1 << UInt64(slot)) != 0 else {
            throw PluginLie("filled the slot \(slot), which it was not given")
        }
        granted &= ~(1 << UInt64(slot))
        return segment
    }

    /// Whether a slot can be lent without leaving the child without a slot.
    mutating func canLend(_ slot: UInt32, of segment: SharedSegment) -> Bool {
        if segment.freeSlots & ~(1 << UInt64(slot)) != 0 { return true }
        copies += 1
        return false
    }
}
