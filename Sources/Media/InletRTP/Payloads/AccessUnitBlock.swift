import InletCore

// Unsafe: owns the memory of an access unit.
/// The memory of an access unit. It returns to its pool with the last reference.
@safe final class AccessUnitBlock: Sendable {
    /// The number of bytes that may be written.
    let capacity: Int
    // Only the builder that took the block writes to it, until the bytes are handed on as packet data:
    // one thread writes, and what hands the unit to another thread orders those writes before its reads.
    nonisolated(unsafe) private let memory: UnsafeMutableRawBufferPointer
    private let pool: AccessUnitPool

    /// Libraries read a few bytes beyond the end, and expect zeros there: FFmpeg's AV_INPUT_BUFFER_PADDING_SIZE is 64.
    private static let padding = 64

    /// - Parameter address: memory that a block of this capacity gave back, or nil for new memory.
    init(capacity: Int, address: UInt?, pool: AccessUnitPool) {
        self.capacity = capacity
        self.pool = pool
        let count = capacity + Self.padding
        if let address, let start = unsafe UnsafeMutableRawPointer(bitPattern: address) {
            unsafe memory = UnsafeMutableRawBufferPointer(start: start, count: count)
        } else {
            unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
        }
    }

    deinit { unsafe pool.giveBack(UInt(bitPattern: memory.baseAddress), capacity: capacity) }

    /// Frees memory that a block gave back.
    static func deallocate(_ address: UInt) {
        unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }

    /// Copies bytes to a place. They must fit.
    func write(_ bytes: RawSpan, at place: Int) {
        precondition(place >= 0 && bytes.byteCount <= capacity - place)
        unsafe bytes.withUnsafeBytes { source in
            guard source.count > 0 else { return }
            unsafe UnsafeMutableRawBufferPointer(rebasing: memory[place...]).copyMemory(from: source)
        }
    }

    /// Sets one byte.
    func write(_ byte: UInt8, at place: Int) {
        precondition(place >= 0 && place < capacity)
        unsafe memory[place] = byte
    }

    /// Copies bytes within the block; the ranges may overlap.
    func move(_ range: Range<Int>, to place: Int) {
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity)
        precondition(place >= 0 && range.count <= capacity - place)
        guard !range.isEmpty else { return }
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[place...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[range]))
    }

    /// The bytes that may be written, of which those not yet written have any value.
    var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            let span = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: memory[..<capacity]))
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Returns bytes as packet data that keeps the block. Nothing may be written to the block from then on.
    func packetData(_ range: Range<Int>) -> PacketData {
        precondition(range.lowerBound >= 0 && range.upperBound <= capacity)
        unsafe UnsafeMutableRawBufferPointer(
            rebasing: memory[range.upperBound..<range.upperBound + Self.padding]
        ).initializeMemory(as: UInt8.self, repeating: 0)
        return unsafe PacketData(UnsafeRawBufferPointer(rebasing: memory[range]), owner: self)
    }
}
