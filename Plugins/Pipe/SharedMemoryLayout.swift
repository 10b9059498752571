import InletCore

/// The layout of a segment of `shm:`, in bytes. `Docs/reference/shared-memory.md` describes it for readers.
enum SharedMemoryLayout {
    /// "INLETSHM", first byte first.
    static let magic: UInt64 = 0x4D48_5354_454C_4E49
    static let version: UInt32 = 1
    /// The offset of the first slot: a full page, so that slots and planes are aligned.
    static let headerBytes = 4096
    /// The offset of the planes within a slot.
    static let slotHeaderBytes = 256
    /// The alignment of strides and planes.
    static let alignment = 64

    /// The offsets in the segment's header.
    enum Header {
        static let magic = 0
        static let version = 8
        static let headerBytes = 12
        static let slotCount = 16
        static let state = 20
        static let slotBytes = 24
        static let published = 32
        static let writer = 40
    }

    /// The offsets in each slot's header.
    enum Slot {
        static let lock = 0
        static let number = 8
        static let sequence = 16
        static let timestamp = 24
        static let wallClock = 32
        static let pts = 40
        static let timeBase = 48
        static let size = 56
        static let strides = 64
        static let rotation = 76
        static let offsets = 80
        static let color = 104
        static let flags = 108
        static let aspect = 112
    }

    /// The state of the segment for readers.
    enum State: UInt32 {
        case live = 1
        /// The writer has ended.
        case ended = 2
        /// Pictures have grown, and frames continue in a new segment of the same name.
        case replaced = 3
    }

    /// The value of an unknown time.
    static let unknownTime = Int64.min

    /// Returns the offsets of a picture's planes within a slot, and the end of the last plane.
    static func planes(
        of size: ImageSize
    ) -> (strides: I420Buffer.Strides, offsets: [I420Buffer.Plane: Int], end: Int) {
        func aligned(_ count: Int) -> Int { (count + alignment - 1) / alignment * alignment }
        let chroma = aligned(size.chroma.width)
        let strides = I420Buffer.Strides(y: aligned(size.width), u: chroma, v: chroma)
        let u = slotHeaderBytes + strides.y * size.height
        let v = u + chroma * size.chroma.height
        return (strides, [.y: slotHeaderBytes, .u: u, .v: v], v + chroma * size.chroma.height)
    }

    /// Returns the size of a slot for pictures of up to a size, in bytes: whole pages.
    static func slotBytes(for size: ImageSize) -> Int { (planes(of: size).end + 4095) / 4096 * 4096 }
}
