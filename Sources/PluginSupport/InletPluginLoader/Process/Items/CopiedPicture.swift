// Unsafe: owns a copy of a picture.
/// Owns a copy of a picture's bytes.
@safe final class CopiedPicture: Sendable {
    // Written only in `init`, freed in `deinit`.
    nonisolated(unsafe) private let memory: UnsafeMutableRawBufferPointer

    /// Copies bytes.
    @unsafe init(_ bytes: UnsafeRawBufferPointer) {
        unsafe memory = .allocate(byteCount: max(1, bytes.count), alignment: 64)
        unsafe memory.copyMemory(from: bytes)
    }

    deinit { unsafe memory.deallocate() }

    /// The bytes, valid while this lives.
    @unsafe var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(memory) }
}
