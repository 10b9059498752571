// Unsafe: hands out memory while it is written.
/// A picture that is being written: the only way to make new pixels, until it is published.
///
/// Not copyable, so that no one can write to a picture that others already read.
public struct I420Draft: ~Copyable, Sendable {
    private let memory: I420Memory

    init(memory: I420Memory) { self.memory = memory }

    /// Makes a picture outside any pool, all bytes zero (which is green: fill it, or call ``fillBlack()``).
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration`` if the size is not ``ImageSize/isValid``.
    public init(size: ImageSize) throws(InletError) {
        guard size.isValid else {
            throw InletError(.invalidConfiguration, "A picture of \(size) pixels cannot exist.")
        }
        memory = I420Memory(layout: I420Layout(size: size), store: nil)
    }

    /// The size of the Y plane in pixels.
    public var size: ImageSize { memory.layout.size }

    /// Bytes between rows.
    public var strides: I420Buffer.Strides { memory.layout.strides }

    /// A plane's memory from its first to its last pixel, for writing.
    @_lifetime(&self)
    public mutating func mutableBytes(of plane: I420Buffer.Plane) -> MutableSpan<UInt8> {
        let rows = I420Buffer.rows(of: plane, in: size)
        let count = strides[plane] * (rows.height - 1) + rows.width
        let start = unsafe baseAddress(of: plane)
        let span = unsafe MutableSpan(_unsafeStart: start, count: count)
        return unsafe _overrideLifetime(span, mutating: &self)
    }

    /// Returns the first pixel of a plane, for C functions that write. Valid until the draft is published.
    @unsafe public mutating func mutableBaseAddress(of plane: I420Buffer.Plane) -> UnsafeMutablePointer<UInt8> {
        unsafe baseAddress(of: plane)
    }

    private func baseAddress(of plane: I420Buffer.Plane) -> UnsafeMutablePointer<UInt8> {
        unsafe (memory.base + memory.layout.offset(of: plane)).assumingMemoryBound(to: UInt8.self)
    }

    /// Fills every plane with one value.
    public mutating func fill(y: UInt8, u: UInt8, v: UInt8) {
        for (plane, value) in [(I420Buffer.Plane.y, y), (.u, u), (.v, v)] {
            var bytes = mutableBytes(of: plane)
            bytes.update(repeating: value)
        }
    }

    /// Fills the picture with limited-range black.
    public mutating func fillBlack() { fill(y: 16, u: 128, v: 128) }

    /// Ends the writing and hands the picture to readers. Copies nothing.
    public consuming func publish() -> I420Buffer {
        let layout = memory.layout
        func plane(_ plane: I420Buffer.Plane) -> UnsafePointer<UInt8> {
            unsafe UnsafePointer(baseAddress(of: plane))
        }
        return unsafe I420Buffer(
            size: layout.size, y: plane(.y), u: plane(.u), v: plane(.v), strides: layout.strides, owner: memory)
    }
}
