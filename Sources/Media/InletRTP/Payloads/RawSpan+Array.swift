// Unsafe: hands out the bytes of an array.
extension [UInt8] {
    /// The elements as a span of bytes.
    package var rawBytes: RawSpan {
        @_lifetime(borrow self)
        get {
            let span = unsafe span.bytes
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }
}
