package import Glibc

// Unsafe: owns the list of memory regions that one write takes.
/// The memory still to be written, as a list of up to four pieces for `writev`.
///
/// The memory must outlive this value.
@safe package struct OutputPieces: ~Copyable {
    private let storage: UnsafeMutableBufferPointer<iovec>
    private var first = 0
    private var count = 0

    /// - Parameter storage: memory for the list, not initialised.
    @unsafe package init(_ storage: UnsafeMutableBufferPointer<iovec>) { unsafe self.storage = storage }

    package var isEmpty: Bool { first == count }

    /// Appends memory, unless it is empty.
    @unsafe package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard unsafe !bytes.isEmpty else { return }
        unsafe storage.initializeElement(
            at: count,
            to: iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count))
        count += 1
    }

    /// Writes as much as the system accepts at once; returns the result of `writev`.
    package func write(to descriptor: Int32) -> Int {
        guard !isEmpty, let base = unsafe storage.baseAddress else { return 0 }
        return unsafe writev(descriptor, base + first, Int32(count - first))
    }

    /// Removes the written bytes.
    package mutating func drop(_ written: Int) {
        var left = written
        while first < count, left >= (unsafe storage[first].iov_len) {
            left -= unsafe storage[first].iov_len
            first += 1
        }
        guard left > 0, first < count else { return }
        let piece = unsafe storage[first]
        unsafe storage[first] = iovec(iov_base: piece.iov_base + left, iov_len: piece.iov_len - left)
    }
}
