import InletCore

// Unsafe: owns the memory of received bytes.
/// The received bytes that are not parsed yet, in one contiguous block, so that they are parsed in place.
///
/// Confined to one thread.
@safe final class ReceiveBuffer {
    private let memory: UnsafeMutableRawBufferPointer
    private let capacity: Int
    private var start = 0
    private var end = 0

    /// - Parameter capacity: the maximum number of bytes to keep, which must exceed the longest message or interleaved
    ///   packet.
    init(capacity: Int) {
        self.capacity = capacity
        unsafe memory = .allocate(byteCount: capacity, alignment: 64)
    }

    deinit { unsafe memory.deallocate() }

    /// The number of bytes that are not parsed yet.
    var count: Int { end - start }

    /// Whether the buffer is full, until some bytes are parsed.
    var isFull: Bool { count == capacity }

    /// Calls `body` with the bytes that are not parsed yet, valid during the call.
    func withBytes<Value, Failure: Error>(_ body: (RawSpan) throws(Failure) -> Value) throws(Failure) -> Value {
        unsafe try body(UnsafeRawBufferPointer(rebasing: memory[start..<end]).bytes)
    }

    /// Calls `body` with the most recently received bytes, valid during the call.
    func withLast(_ count: Int, _ body: (RawSpan) -> Void) {
        unsafe body(UnsafeRawBufferPointer(rebasing: memory[max(start, end - max(0, count))..<end]).bytes)
    }

    /// Discards parsed bytes.
    func consume(_ count: Int) {
        start = min(end, start + max(0, count))
        if start == end { (start, end) = (0, 0) }
    }

    /// Discards all bytes.
    func removeAll() { (start, end) = (0, 0) }

    /// Appends received bytes.
    ///
    /// - Parameter read: fills the memory from its beginning.
    /// - Returns: the result of `read`; nil if the buffer is full.
    func fill(
        _ read: (UnsafeMutableRawBufferPointer) throws(InletError) -> ReadOutcome
    ) throws(InletError) -> ReadOutcome? {
        if capacity - end < capacity / Self.roomShare, start > 0 {
            unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[start..<end]))
            (start, end) = (0, count)
        }
        guard end < capacity else { return nil }
        let outcome = unsafe try read(UnsafeMutableRawBufferPointer(rebasing: memory[end...]))
        if case .bytes(let count) = outcome { end = min(capacity, end + count) }
        return outcome
    }

    /// The remaining bytes are moved to the front when less than 1/`roomShare` of the memory is free after them.
    private static let roomShare = 4
}
