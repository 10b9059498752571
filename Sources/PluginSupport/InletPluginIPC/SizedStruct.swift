// Unsafe: copies structs that begin with their size.
/// Structs of the other side that begin with their own size in bytes, and grow at their end.
package enum SizedStruct {
    /// Copies a struct: no byte beyond the size that it states, and zeros for missing bytes.
    ///
    /// - Parameter address: the struct, which begins with a `uint32_t` of its size.
    /// - Returns: the copy, and the size that the struct states; nil if it states fewer than 8 bytes, which is invalid.
    package static func read<Value: BitwiseCopyable>(
        _ address: UnsafeRawPointer, into value: inout Value
    ) -> Int? {
        let stated = unsafe Int(address.loadUnaligned(as: UInt32.self))
        guard stated >= 8 else { return nil }
        unsafe withUnsafeMutableBytes(of: &value) { bytes in
            unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
            let known = min(stated, bytes.count)
            unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: known))
        }
        return stated
    }

    /// Returns a copy of a struct as ``read(_:into:)`` makes it; nil for a null pointer, and for a struct without a
    /// size.
    ///
    /// - Parameter empty: a struct of zeros.
    package static func read<Value: BitwiseCopyable>(_ pointer: UnsafePointer<Value>?, like empty: Value) -> Value? {
        guard let pointer = unsafe pointer else { return nil }
        var copy = empty
        return unsafe read(UnsafeRawPointer(pointer), into: &copy) == nil ? nil : copy
    }

    /// Fills in a struct that the other side has allocated, according to a header that may be older: no byte beyond the
    /// size that it states.
    ///
    /// - Parameters:
    ///   - value: the value to write. Its own size is not written: the struct keeps the one that it states.
    ///   - place: the struct, which begins with a `uint32_t` of its size.
    ///   - least: the size of the struct in version 1.0.
    /// - Returns: false if the struct states less than that, for example because its size was never set. Nothing is
    ///   written then.
    package static func write<Value: BitwiseCopyable>(
        _ value: Value, to place: UnsafeMutablePointer<Value>, least: Int
    ) -> Bool {
        let start = UnsafeMutableRawPointer(place)
        let stated = unsafe start.load(as: UInt32.self)
        guard stated >= least else { return false }
        unsafe withUnsafeBytes(of: value) { bytes in
            let count = min(Int(stated), bytes.count)
            unsafe UnsafeMutableRawBufferPointer(start: start, count: count)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
        unsafe start.storeBytes(of: stated, as: UInt32.self)
        return true
    }

    /// The size of `inlet_slot` in version 1.0.
    package static let leastSlot = 144
}
