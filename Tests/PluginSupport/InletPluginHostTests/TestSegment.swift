import CInletPlugin
import CLinux
import Glibc

/// A shared memory with slots, as Inlet makes one.
@safe final class TestSegment {
    /// The memory.
    let descriptor: Int32
    /// The message that announces it.
    var message = inlet_segment()
    private let path: String

    /// Makes a segment of eight slots.
    init(slotLength: UInt64, number: UInt32 = 1, slotCount: UInt32 = 8) {
        // A file in memory, because the C library's module lacks memfd_create.
        path = "/dev/shm/inlet-test-\(getpid())-\(UInt64.random(in: 0...(.max)))"
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        unsafe unlink(path)
        ftruncate(descriptor, Int(slotLength) * Int(slotCount))
        message.type = UInt32(INLET_MESSAGE_SEGMENT)
        message.number = number
        message.slot_length = slotLength
        message.slot_count = slotCount
    }

    deinit { close(descriptor) }

    /// Returns bytes of a slot.
    func bytes(slot: UInt32, at offset: Int, count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let start = Int(slot) * Int(message.slot_length) + offset
        let found = unsafe pread(descriptor, &bytes, count, start)
        return Array(bytes.prefix(max(0, found)))
    }

    /// Writes bytes to a slot.
    func write(_ bytes: [UInt8], slot: UInt32, at offset: Int = 0) {
        _ = unsafe pwrite(descriptor, bytes, bytes.count, Int(slot) * Int(message.slot_length) + offset)
    }
}
