/// The bytes of a packet and what keeps them alive. Copying shares them.
@safe public struct PacketData: Sendable {
    // `owner` keeps this memory alive and unwritten for as long as a copy of the value exists.
    nonisolated(unsafe) private let memory: UnsafeRawBufferPointer
    private let owner: any AnyObject & Sendable

    /// Wraps memory that something else owns, without a copy.
    ///
    /// - Parameters:
    ///   - memory: the bytes, with 64 more behind them that may be read: libraries read a little further than the end.
    ///   - owner: what keeps the memory alive and unwritten; it is released with the last copy.
    @unsafe public init(_ memory: UnsafeRawBufferPointer, owner: any AnyObject & Sendable) {
        unsafe self.memory = memory
        self.owner = owner
    }

    /// A copy of bytes.
    public init(_ bytes: [UInt8]) {
        let block = PacketBlock(bytes)
        unsafe memory = UnsafeRawBufferPointer(block.memory)
        owner = block
    }

    /// How many bytes there are.
    public var count: Int { unsafe memory.count }

    /// The bytes.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let span = unsafe memory.assumingMemoryBound(to: UInt8.self).span
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// The bytes' address, and what keeps them alive there: for libraries that take references.
    @unsafe public var storage: (memory: UnsafeRawBufferPointer, owner: any AnyObject & Sendable) {
        unsafe (memory, owner)
    }
}

/// Owns a copy of a packet's bytes.
@safe private final class PacketBlock: Sendable {
    // Written in `init` only, and freed once.
    nonisolated(unsafe) let memory: UnsafeMutableRawBufferPointer

    init(_ bytes: [UInt8]) {
        // Libraries read a few bytes further than the end: FFmpeg's AV_INPUT_BUFFER_PADDING_SIZE is 64.
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + 64, alignment: 16)
        unsafe block.initializeMemory(as: UInt8.self, repeating: 0)
        unsafe block.copyBytes(from: bytes)
        unsafe memory = UnsafeMutableRawBufferPointer(rebasing: block[..<bytes.count])
    }

    deinit { unsafe memory.baseAddress?.deallocate() }
}
