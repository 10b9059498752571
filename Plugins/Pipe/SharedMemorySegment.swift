import Glibc
import InletCore
import InletOutput
import Synchronization

// Unsafe: owns a mapped segment.
/// Owns a segment of POSIX shared memory into which pictures are written.
///
/// Must not be used from two threads at once. Readers in other processes only read: this process neither waits for
/// them nor observes them.
@safe final class SharedMemorySegment {
    let slotBytes: Int
    private let slots: Int
    private let byteCount: Int
    // Mapped in `init` and unmapped in `deinit`.
    private let base: UnsafeMutableRawPointer
    private let file: SharedMemoryFile
    private var published: UInt64 = 0

    /// Creates a segment, which has no name yet.
    ///
    /// - Parameters:
    ///   - name: the future name, with a leading slash.
    ///   - mode: the permissions.
    ///   - published: the number of frames written earlier to segments of this name.
    /// - Throws: an error made of the `errno`.
    init(
        name: String, slots: Int, slotBytes: Int, mode: mode_t, published: UInt64 = 0
    ) throws(InletError) {
        self.slots = slots
        self.slotBytes = slotBytes
        self.published = published
        byteCount = SharedMemoryLayout.headerBytes + slots * slotBytes
        file = try SharedMemoryFile(name: name, byteCount: byteCount, mode: mode)
        let map = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0)
        guard let map = unsafe map, unsafe map != MAP_FAILED else {
            throw InletError(sharedMemory: name, "mmap", errno)
        }
        unsafe base = map
        typealias Header = SharedMemoryLayout.Header
        put(SharedMemoryLayout.version, at: Header.version)
        put(UInt32(SharedMemoryLayout.headerBytes), at: Header.headerBytes)
        put(UInt32(slots), at: Header.slotCount)
        put(SharedMemoryLayout.State.live.rawValue, at: Header.state)
        put(UInt64(slotBytes), at: Header.slotBytes)
        put(published, at: Header.published)
        put(UInt32(bitPattern: getpid()), at: Header.writer)
        // Stored last: a segment with the magic number is complete.
        store(SharedMemoryLayout.magic, at: Header.magic)
    }

    deinit {
        unsafe munmap(base, byteCount)
    }

    /// Gives the segment its name, taking over that of a segment whose writer is dead.
    ///
    /// - Throws: ``InletError/Code/busy`` if a living process writes to a segment of this name, or if memory of
    ///   another kind has the name.
    func publish() throws(InletError) { try file.publish() }

    /// Takes over the name from another segment of this process. Its readers are notified that they must open the name
    /// again; their mappings stay valid.
    func replace(_ other: SharedMemorySegment) throws(InletError) {
        try file.replace()
        other.put(SharedMemoryLayout.State.replaced.rawValue, at: SharedMemoryLayout.Header.state)
    }

    /// Notifies readers that no more frames follow, and removes the name. Their mappings stay valid.
    func end() {
        put(SharedMemoryLayout.State.ended.rawValue, at: SharedMemoryLayout.Header.state)
        file.unpublish()
    }

    /// The number of frames written, over all segments of this name.
    var publishedCount: UInt64 { published }

    /// Writes a frame, whose picture must fit into a slot, into the oldest slot.
    func publish(_ frame: VideoFrame) {
        let slot = SharedMemoryLayout.headerBytes + Int(published % UInt64(slots)) * slotBytes
        published += 1
        // An odd number shows readers that the frame is torn. The fence keeps later writes from becoming visible
        // before it.
        store(published * 2 - 1, at: slot + SharedMemoryLayout.Slot.lock)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        describe(frame, at: slot)
        copy(frame.buffer, to: slot)
        store(published * 2, at: slot + SharedMemoryLayout.Slot.lock)
        store(published, at: SharedMemoryLayout.Header.published)
    }

    private func describe(_ frame: VideoFrame, at slot: Int) {
        typealias Slot = SharedMemoryLayout.Slot
        let (strides, offsets, _) = SharedMemoryLayout.planes(of: frame.size)
        put(published, at: slot + Slot.number)
        put(frame.sequence, at: slot + Slot.sequence)
        put(frame.timestamp.nanoseconds, at: slot + Slot.timestamp)
        put(frame.wallClock ?? SharedMemoryLayout.unknownTime, at: slot + Slot.wallClock)
        put(frame.pts?.ticks ?? SharedMemoryLayout.unknownTime, at: slot + Slot.pts)
        put(frame.pts?.timeBase, at: slot + Slot.timeBase)
        put(UInt32(frame.size.width), at: slot + Slot.size)
        put(UInt32(frame.size.height), at: slot + Slot.size + 4)
        for plane in I420Buffer.Plane.allCases {
            put(UInt32(strides[plane]), at: slot + Slot.strides + 4 * plane.rawValue)
            put(UInt64(offsets[plane] ?? 0), at: slot + Slot.offsets + 8 * plane.rawValue)
        }
        put(UInt32(frame.rotation.rawValue), at: slot + Slot.rotation)
        let color = frame.colorSpace
        let range: UInt32 =
            switch color.range {
            case .unspecified: 0
            case .limited: 1
            case .full: 2
            }
        var description = UInt32(color.primaries.rawValue)
        description |= UInt32(color.transfer.rawValue) << 8
        description |= UInt32(color.matrix.rawValue) << 16
        description |= range << 24
        put(description, at: slot + Slot.color)
        put(UInt32(frame.flags.rawValue), at: slot + Slot.flags)
        put(frame.sampleAspectRatio, at: slot + Slot.aspect)
    }

    private func copy(_ picture: I420Buffer, to slot: Int) {
        let (strides, offsets, _) = SharedMemoryLayout.planes(of: picture.size)
        for plane in I420Buffer.Plane.allCases {
            guard let offset = offsets[plane] else { continue }
            let rows = I420Buffer.rows(of: plane, in: picture.size)
            let source = unsafe UnsafeRawPointer(picture.baseAddress(of: plane))
            let target = unsafe base + slot + offset
            if picture.strides[plane] == strides[plane] {
                unsafe target.copyMemory(from: source, byteCount: strides[plane] * (rows.height - 1) + rows.width)
            } else {
                for row in 0..<rows.height {
                    unsafe (target + row * strides[plane]).copyMemory(
                        from: source + row * picture.strides[plane], byteCount: rows.width)
                }
            }
        }
        withExtendedLifetime(picture) {}
    }

    private func put<Value: BitwiseCopyable>(_ value: Value, at offset: Int) {
        unsafe base.storeBytes(of: value, toByteOffset: offset, as: Value.self)
    }

    /// Stores two 32-bit numbers; zeros if there is no ratio, or none that fits 32 bits.
    private func put(_ ratio: Rational?, at offset: Int) {
        let numbers = ratio.flatMap { ratio in
            Int32(exactly: ratio.numerator).flatMap { numerator in
                Int32(exactly: ratio.denominator).map { (numerator, $0) }
            }
        }
        put(numbers?.0 ?? 0, at: offset)
        put(numbers?.1 ?? 0, at: offset + 4)
    }

    /// Stores a number. Readers that see it also see everything written before it. `offset` is a multiple of 8.
    private func store(_ value: UInt64, at offset: Int) {
        unsafe (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(value, ordering: .releasing)
    }
}

extension InletError {
    /// Creates the error for a failed shared-memory call, with advice.
    init(sharedMemory name: String, _ operation: String, _ number: Int32) {
        self.init(errno: number, operation: operation, path: "the shared memory \(name)")
        if number == ENOSPC || number == ENOMEM {
            code = .resourceExhausted
            message =
                "There is no room for the shared memory \(name). Use fewer slots or smaller pictures, or enlarge /dev/shm."
        }
    }
}
