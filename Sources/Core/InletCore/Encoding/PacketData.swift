// Unsafe: points to a packet's bytes in memory that an owner keeps alive.
/// The bytes of a packet and the owner that keeps them alive. Copying shares them.
@safe public struct PacketData: Sendable {
    // `owner` keeps this memory alive and unwritten for as long as a copy of the value exists.
    nonisolated(unsafe) private let memory: UnsafeRawBufferPointer
    private let owner: any AnyObject & Sendable

    /// Wraps memory that something else owns, without a copy.
    ///
    /// - Parameters:
    ///   - memory: the bytes, followed by 64 more that may be read: libraries read a little beyond the end.
    ///   - owner: keeps the memory alive and unwritten; it is released with the last copy.
    @unsafe public init(_ memory: UnsafeRawBufferPointer, owner: any AnyObject & Sendable) {
        unsafe self.memory = memory
        self.owner = owner
    }

    /// Copies the given bytes.
    public init(_ bytes: [UInt8]) {
        self = unsafe bytes.withUnsafeBytes { unsafe PacketData(copying: [$0]) }
    }

    /// Copies several pieces of memory into one, one after another. They may change as soon as this returns.
    @unsafe public init(copying pieces: [UnsafeRawBufferPointer]) {
        let block = unsafe PacketBlock(pieces)
        unsafe memory = UnsafeRawBufferPointer(block.memory)
        owner = block
    }

    /// The number of bytes.
    public var count: Int { unsafe memory.count }

    /// The bytes.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let span = unsafe memory.assumingMemoryBound(to: UInt8.self).span
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// The bytes' address, and the owner that keeps them alive there, for libraries that take references.
    @unsafe public var storage: (memory: UnsafeRawBufferPointer, owner: any AnyObject & Sendable) {
        unsafe (memory, owner)
    }
}

/// Owns a copy of a packet's bytes.
@safe private final class PacketBlock: Sendable {
    // Written in `init` only, and freed once.
    nonisolated(unsafe) let memory: UnsafeMutableRawBufferPointer

    @unsafe init(_ pieces: [UnsafeRawBufferPointer]) {
        let count = unsafe pieces.reduce(0) { $0 + $1.count }
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: count + Self.padding, alignment: 16)
        var place = 0
        for index in unsafe pieces.indices {
            let piece = unsafe pieces[index]
            unsafe UnsafeMutableRawBufferPointer(rebasing: block[place...]).copyMemory(from: piece)
            place += piece.count
        }
        unsafe UnsafeMutableRawBufferPointer(rebasing: block[count...])
            .initializeMemory(as: UInt8.self, repeating: 0)
        unsafe memory = UnsafeMutableRawBufferPointer(rebasing: block[..<count])
    }

    /// Libraries read a few bytes beyond the end, and expect zeros there: FFmpeg's AV_INPUT_BUFFER_PADDING_SIZE is 64.
    private static let padding = 64

    deinit { unsafe memory.baseAddress?.deallocate() }
}
