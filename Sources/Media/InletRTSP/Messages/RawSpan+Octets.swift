// Unsafe: reads received bytes at checked offsets.
/// Bytes and numbers in network order. Indices are checked: one beyond the end traps, so callers check the size first.
extension RawSpan {
    func octet(at index: Int) -> UInt8 {
        precondition(index >= 0 && index < byteCount)
        return unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }

    func octets16(at index: Int) -> UInt16 {
        precondition(index >= 0 && index <= byteCount - 2)
        return UInt16(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: index, as: UInt16.self))
    }

    /// A copy of the bytes.
    var array: [UInt8] { unsafe withUnsafeBytes { bytes in unsafe Array(bytes) } }
}
