// Unsafe: reads received bytes at checked offsets.
/// Bytes and numbers in network order. Indices are checked: one beyond the end traps, so callers check the size first.
extension RawSpan {
    package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < byteCount)
        return unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }

    package func bigEndian16(at index: Int) -> UInt16 {
        precondition(index >= 0 && index <= byteCount - 2)
        return UInt16(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: index, as: UInt16.self))
    }

    package func bigEndian64(at index: Int) -> UInt64 {
        precondition(index >= 0 && index <= byteCount - 8)
        return UInt64(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    package func bigEndian32(at index: Int) -> UInt32 {
        precondition(index >= 0 && index <= byteCount - 4)
        return UInt32(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: index, as: UInt32.self))
    }
}
