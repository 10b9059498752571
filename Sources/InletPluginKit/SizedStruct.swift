/// Reads structs of `inlet_plugin.h`, each of which begins with its size.
enum SizedStruct {
    /// Returns a copy of a struct: the bytes that its size covers, and zeros behind them. Nil for a null pointer.
    ///
    /// - Parameter empty: a struct of zeros.
    static func read<Struct>(_ pointer: UnsafePointer<Struct>?, into empty: Struct) -> Struct? {
        guard let pointer = unsafe pointer else { return nil }
        var copy = empty
        unsafe withUnsafeMutableBytes(of: &copy) { target in
            let source = unsafe UnsafeRawPointer(pointer)
            let size = unsafe Int(source.loadUnaligned(as: UInt32.self))
            unsafe target.copyMemory(
                from: UnsafeRawBufferPointer(start: source, count: min(size, target.count)))
        }
        return copy
    }
}
