import InletCore

// Unsafe: owns memory that is lent to the host.
/// Parameter sets in separate memory, with an object that must live as long.
@safe final class LentMemory: Sendable {
    // Written in `init` only, and freed once.
    nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer
    private let companion: (any AnyObject & Sendable)?

    /// Copies bytes.
    ///
    /// - Parameter companion: lives as long as the copy. The default is nil.
    init(_ content: [UInt8], with companion: (any AnyObject & Sendable)? = nil) {
        unsafe bytes = .allocate(byteCount: content.count, alignment: 16)
        unsafe bytes.copyBytes(from: content)
        self.companion = companion
    }

    deinit { unsafe bytes.deallocate() }
}
