import Glibc

// Unsafe: owns a reply that libxcb allocated.
/// A message of an X server: a reply or an event. Numbers are in this machine's byte order; reading beyond the
/// received bytes yields nil. The layouts are those of the X11 protocol and its extensions (xcb-proto).
@safe struct XAnswer: ~Copyable {
    private let memory: UnsafeMutableRawPointer
    /// The size in bytes: for a reply 32 and its stated additional length, for an event 32.
    let byteCount: Int

    /// Takes over memory that libxcb allocated.
    @unsafe init(_ memory: UnsafeMutableRawPointer, isAnswer: Bool) {
        unsafe self.memory = memory
        // libxcb has read as much as the length states, in units of four bytes.
        let further = isAnswer ? unsafe Int(memory.loadUnaligned(fromByteOffset: 4, as: UInt32.self)) * 4 : 0
        byteCount = 32 + further
    }

    deinit { unsafe free(memory) }

    /// Returns the number at an offset.
    func number<Number: FixedWidthInteger & BitwiseCopyable>(at place: Int, as type: Number.Type) -> Number? {
        guard place >= 0, place <= byteCount - MemoryLayout<Number>.size else { return nil }
        return unsafe memory.loadUnaligned(fromByteOffset: place, as: type)
    }

    /// Returns numbers from an offset on; nil if not all were received.
    func numbers(at place: Int, count: Int) -> [UInt32]? {
        guard place >= 0, count >= 0, place <= byteCount, count <= (byteCount - place) / 4 else { return nil }
        return (0..<count).map { index in
            unsafe memory.loadUnaligned(fromByteOffset: place + index * 4, as: UInt32.self)
        }
    }

    /// Returns bytes from an offset on; nil if not all were received.
    func bytes(at place: Int, count: Int) -> [UInt8]? {
        guard place >= 0, count >= 0, place <= byteCount, count <= byteCount - place else { return nil }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: memory + place, count: count))
    }
}
