import InletCore
import InletOutput
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The owner of a segment of POSIX shared memory into which pictures are written.
///
/// Not for use from two threads at once. Readers in other processes only read: nothing here waits for them or looks at what they do.
@safe final class SharedMemorySegment {
    let slotBytes: Int
    private let name: String
    private let slots: Int
    private let byteCount: Int
    // Mapped in `init` and unmapped in `deinit`.
    private let base: UnsafeMutableRawPointer
    /// Holds the lock that says that the writer lives; closed in `deinit`.
    private let descriptor: Int32
    private var published: UInt64 = 0

    /// Makes a segment. One of the same name that its writer left behind is taken away; one that is in use or not of this kind is left alone.
    ///
    /// - Parameters:
    ///   - name: with a slash in front.
    ///   - mode: who may read it.
    ///   - published: how many frames were written to segments of this name before.
    /// - Throws: ``InletError/Code/busy`` where a living process writes to it, else an error made of the `errno`.
    init(
        name: String, slots: Int, slotBytes: Int, mode: mode_t, published: UInt64 = 0
    ) throws(InletError) {
        self.name = name
        self.slots = slots
        self.slotBytes = slotBytes
        self.published = published
        byteCount = SharedMemoryLayout.headerBytes + slots * slotBytes
        try Self.removeLeftover(name)
        let descriptor = unsafe shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw InletError(sharedMemory: name, "shm_open", errno) }
        // Says that the writer lives, until the system closes it: a process's number says nothing after a restart of a container.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        var failed: (String, Int32)?
        // fallocate rather than a hole: a full /dev/shm is then an error here and not a SIGBUS later.
        #if canImport(Darwin)
            if ftruncate(descriptor, off_t(byteCount)) != 0 { failed = ("ftruncate", errno) }
        #else
            let status = posix_fallocate(descriptor, 0, off_t(byteCount))
            if status != 0 { failed = ("posix_fallocate", status) }
        #endif
        // Whatever the umask says.
        if failed == nil, fchmod(descriptor, mode) != 0 { failed = ("fchmod", errno) }
        let map = unsafe failed == nil ? mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : nil
        if failed == nil, unsafe map == MAP_FAILED { failed = ("mmap", errno) }
        guard failed == nil, let map = unsafe map else {
            unsafe shm_unlink(name)
            close(descriptor)
            throw InletError(sharedMemory: name, failed?.0 ?? "mmap", failed?.1 ?? ENOMEM)
        }
        self.descriptor = descriptor
        unsafe base = map
        typealias Header = SharedMemoryLayout.Header
        put(SharedMemoryLayout.version, at: Header.version)
        put(UInt32(SharedMemoryLayout.headerBytes), at: Header.headerBytes)
        put(UInt32(slots), at: Header.slotCount)
        put(SharedMemoryLayout.State.live.rawValue, at: Header.state)
        put(UInt64(slotBytes), at: Header.slotBytes)
        put(published, at: Header.published)
        put(UInt32(bitPattern: getpid()), at: Header.writer)
        // Last: what has the magic number is whole.
        store(SharedMemoryLayout.magic, at: Header.magic)
    }

    deinit {
        unsafe munmap(base, byteCount)
        close(descriptor)
    }

    /// How many frames were written, over all segments of this name.
    var publishedCount: UInt64 { published }

    /// Writes a frame into the oldest slot. The frame's picture fits into a slot.
    func publish(_ frame: VideoFrame) {
        let slot = SharedMemoryLayout.headerBytes + Int(published % UInt64(slots)) * slotBytes
        published += 1
        // Odd: whoever reads now knows it for torn. The fence keeps what follows from being seen before it.
        store(published * 2 - 1, at: slot + SharedMemoryLayout.Slot.lock)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        describe(frame, at: slot)
        copy(frame.buffer, to: slot)
        store(published * 2, at: slot + SharedMemoryLayout.Slot.lock)
        store(published, at: SharedMemoryLayout.Header.published)
    }

    /// Tells readers why no more frames come here, and takes the name away. They keep what they have mapped.
    func end(_ state: SharedMemoryLayout.State) {
        put(state.rawValue, at: SharedMemoryLayout.Header.state)
        unsafe shm_unlink(name)
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
        put(
            UInt32(color.primaries.rawValue) | UInt32(color.transfer.rawValue) << 8 | UInt32(color.matrix.rawValue)
                << 16
                | range << 24, at: slot + Slot.color)
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

    /// Two 32-bit numbers; zeros where there is no ratio, or none that 32 bits hold.
    private func put(_ ratio: Rational?, at offset: Int) {
        let numbers = ratio.flatMap { ratio in
            Int32(exactly: ratio.numerator).flatMap { numerator in
                Int32(exactly: ratio.denominator).map { (numerator, $0) }
            }
        }
        put(numbers?.0 ?? 0, at: offset)
        put(numbers?.1 ?? 0, at: offset + 4)
    }

    /// Stores a number whose readers see all that was written before it. `offset` is a multiple of 8.
    private func store(_ value: UInt64, at offset: Int) {
        unsafe (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(value, ordering: .releasing)
    }

    /// Takes away a segment whose writer is gone.
    private static func removeLeftover(_ name: String) throws(InletError) {
        let descriptor = unsafe shm_open(name, O_RDONLY, 0)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw InletError(sharedMemory: name, "shm_open", errno) }
            return
        }
        defer { close(descriptor) }
        typealias Header = SharedMemoryLayout.Header
        var start = [UInt8](repeating: 0, count: 64)
        let count = unsafe pread(descriptor, &start, start.count, 0)
        let words = unsafe start.withUnsafeBytes {
            unsafe (
                magic: $0.load(as: UInt64.self), state: $0.load(fromByteOffset: Header.state, as: UInt32.self),
                writer: $0.load(fromByteOffset: Header.writer, as: Int32.self)
            )
        }
        // One that never got its magic number belongs to a writer that is at it now, or died in that moment. Who is not to be told.
        guard count == start.count, words.magic == SharedMemoryLayout.magic else {
            throw InletError(
                .busy,
                "There is shared memory named \(name) that is not of this kind, or not ready. Choose another name, or remove /dev/shm\(name)."
            )
        }
        let isLiving = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
        guard words.state != SharedMemoryLayout.State.live.rawValue || !isLiving else {
            throw InletError(
                .busy, "Process \(words.writer) already writes to the shared memory \(name). Choose another name.")
        }
        unsafe shm_unlink(name)
    }
}

extension InletError {
    /// The failure of a call for shared memory, with what to try.
    init(sharedMemory name: String, _ operation: String, _ number: Int32) {
        self.init(errno: number, operation: operation, path: "the shared memory \(name)")
        if number == ENOSPC || number == ENOMEM {
            code = .resourceExhausted
            message =
                "There is no room for the shared memory \(name). Take fewer slots or smaller pictures, or enlarge /dev/shm."
        }
    }
}
