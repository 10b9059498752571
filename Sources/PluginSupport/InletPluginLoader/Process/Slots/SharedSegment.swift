import CLinux
import Glibc
import InletCore
import InletSystem
import Synchronization

// Unsafe: owns mapped memory.
/// Memory that this process shares with the child of a plug-in, divided into slots of one length.
///
/// Its size is sealed: whatever the child does, no access to it faults. Its bytes may change at any time. Safe from
/// any thread.
@safe final class SharedSegment: Sendable {
    /// Counts the segments of a connection, from 1.
    let number: UInt32
    /// The length of a slot in bytes, a multiple of ``alignment``.
    let slotLength: Int
    /// How many slots there are, at most 64.
    let slotCount: Int
    // Mapped in `init`, unmapped in `deinit`.
    nonisolated(unsafe) private let memory: UnsafeMutableRawBufferPointer
    private let freeBits: Atomic<UInt64>

    /// The alignment of slots: `INLET_SLOT_ALIGNMENT`.
    static let alignment = 4096

    /// Makes a segment.
    ///
    /// - Parameters:
    ///   - slotLength: a multiple of ``alignment``.
    ///   - isWritable: whether this process writes to it.
    ///   - send: sends the descriptor, which is closed then.
    /// - Throws: ``InletError/Code/resourceExhausted``, or what `send` throws.
    init(
        number: UInt32, slotLength: Int, slotCount: Int, isWritable: Bool, send: (Int32) throws(InletError) -> Void
    ) throws(InletError) {
        (self.number, self.slotLength, self.slotCount) = (number, slotLength, slotCount)
        freeBits = Atomic(slotCount == 64 ? .max : (1 << UInt64(slotCount)) - 1)
        let descriptor = unsafe inlet_shared_memory("inlet-plugin")
        guard descriptor >= 0 else { throw Self.refusal("memfd_create", errno) }
        defer { close(descriptor) }
        let count = slotLength * slotCount
        guard ftruncate(descriptor, count) == 0 else { throw Self.refusal("ftruncate", errno) }
        guard inlet_seal_size(descriptor) >= 0 else { throw Self.refusal("F_ADD_SEALS", errno) }
        let access = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
        let map = unsafe mmap(nil, count, access, MAP_SHARED, descriptor, 0)
        guard let map = unsafe map, unsafe map != MAP_FAILED else { throw Self.refusal("mmap", errno) }
        unsafe memory = UnsafeMutableRawBufferPointer(start: map, count: count)
        try send(descriptor)
    }

    deinit { unsafe munmap(memory.baseAddress, memory.count) }

    /// A bit for each slot that nobody uses.
    var freeSlots: UInt64 { freeBits.load(ordering: .acquiring) }

    /// Marks a slot as used.
    func take(_ slot: Int) { freeBits.bitwiseAnd(~(1 << UInt64(slot)), ordering: .relaxed) }

    /// Marks a slot as free: nothing reads it any more.
    func giveBack(_ slot: Int) { freeBits.bitwiseOr(1 << UInt64(slot), ordering: .releasing) }

    /// The bytes of a slot that exists.
    @unsafe func bytes(of slot: Int) -> UnsafeMutableRawBufferPointer {
        let start = slot * slotLength
        return unsafe UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + slotLength])
    }

    private static func refusal(_ operation: String, _ number: Int32) -> InletError {
        InletError(
            .resourceExhausted,
            "No memory can be shared with a plug-in: \(SystemErrorText.of(number)). Stop some sources, or raise the "
                + "limits (ulimit).",
            context: .init(operation: operation, nativeCode: number))
    }
}
