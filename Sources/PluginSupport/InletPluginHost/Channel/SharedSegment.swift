import CInletPlugin
import CLinux
import Glibc

// Unsafe: owns mapped memory.
/// A mapped segment of slots, which Inlet has made.
@safe final class SharedSegment {
    /// The segment's number, from 1 on.
    let number: UInt32
    /// The bytes of each slot.
    let slotLength: Int
    /// The number of slots.
    let slotCount: Int
    private let memory: UnsafeMutableRawBufferPointer

    /// Maps a segment.
    ///
    /// - Parameters:
    ///   - descriptor: the segment's memory. It stays the caller's.
    ///   - isWritten: whether this side writes to it.
    /// - Throws: ``PluginFailure`` if the segment does not match the message, or the address space is full.
    init(_ message: inlet_segment, descriptor: Int32, isWritten: Bool) throws(PluginFailure) {
        var status = stat()
        let (total, overflow) = message.slot_length.multipliedReportingOverflow(by: UInt64(message.slot_count))
        guard descriptor >= 0, (1...UInt32(INLET_MOST_SLOTS)).contains(message.slot_count), !overflow, total > 0,
            message.slot_length.isMultiple(of: UInt64(INLET_SLOT_ALIGNMENT)),
            let length = Int(exactly: total), unsafe fstat(descriptor, &status) == 0, Int(status.st_size) >= length
        else {
            throw PluginFailure(
                INLET_ERROR_INTERNAL, "Inlet sent a segment that differs from its message. Report this.")
        }
        let protection = isWritten ? PROT_READ | PROT_WRITE : PROT_READ
        let start = unsafe mmap(nil, length, protection, MAP_SHARED, descriptor, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else {
            throw PluginFailure(
                INLET_ERROR_RESOURCE_EXHAUSTED,
                "The plug-in's process has no room for \(length >> 20) MiB of pictures. Ask for smaller pictures, or "
                    + "raise \"memory\" in the plug-in's manifest.", nativeCode: errno)
        }
        number = message.number
        slotLength = Int(message.slot_length)
        slotCount = Int(message.slot_count)
        unsafe memory = UnsafeMutableRawBufferPointer(start: start, count: length)
    }

    deinit { unsafe munmap(memory.baseAddress, memory.count) }

    /// The bits of all slots.
    var allSlots: UInt64 { slotCount >= 64 ? .max : (1 << UInt64(slotCount)) - 1 }

    /// Returns the memory of a slot, which is valid while the segment lives; nil if no such slot exists.
    func slot(_ index: Int) -> UnsafeMutableRawBufferPointer? {
        guard (0..<slotCount).contains(index) else { return nil }
        let start = index * slotLength
        return unsafe UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + slotLength])
    }
}
