// Unsafe: points to a native plane in memory that the frame's owner keeps alive.
/// A plane of a native picture.
@safe public struct SourcePlane: Sendable {
    // The frame's owner keeps this memory alive and unwritten for as long as the frame is referenced.
    nonisolated(unsafe) private let memory: UnsafeRawBufferPointer
    /// The offset of the top row, in bytes from the start of the memory.
    public let offset: Int
    /// Bytes from one row to the row below it; negative if the picture is stored bottom up.
    public let stride: Int

    /// - Parameters:
    ///   - memory: the memory that may be read.
    ///   - offset: where the top row starts in it. The default is 0.
    ///   - stride: bytes from one row to the row below it.
    @unsafe public init(_ memory: UnsafeRawBufferPointer, offset: Int = 0, stride: Int) {
        unsafe self.memory = memory
        self.offset = offset
        self.stride = stride
    }

    /// The number of bytes that may be read.
    public var byteCount: Int { unsafe memory.count }

    /// Whether `rows` rows of `rowBytes` bytes lie within the memory.
    public func holds(rows: Int, of rowBytes: Int) -> Bool {
        guard rows > 0, rowBytes > 0, offset >= 0 else { return rows == 0 || rowBytes == 0 }
        let (span, overflow) = stride.multipliedReportingOverflow(by: rows - 1)
        let (last, overflowed) = span.addingReportingOverflow(offset)
        guard !overflow, !overflowed, stride.magnitude >= rowBytes || rows == 1 else { return false }
        return min(offset, last) >= 0 && max(offset, last) <= byteCount - rowBytes
    }

    /// The first byte of the top row. Check ``holds(rows:of:)`` before reading.
    @unsafe public var topRow: UnsafePointer<UInt8>? {
        unsafe memory.baseAddress.map { unsafe ($0 + offset).assumingMemoryBound(to: UInt8.self) }
    }

    /// The memory from the top row on, for a picture stored top down.
    @unsafe public var bytesFromTop: UnsafeRawBufferPointer {
        guard (0...byteCount).contains(offset) else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        return unsafe UnsafeRawBufferPointer(rebasing: memory[offset...])
    }
}
