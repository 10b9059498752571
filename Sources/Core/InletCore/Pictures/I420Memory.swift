// Unsafe: allocates, owns and frees the memory of a picture.
/// The only owner of a block of picture memory. Its deinitialization returns the block to the pool.
@safe final class I420Memory: Sendable {
    let layout: I420Layout
    // Written only through the one `I420Draft` that holds this object, and never after publication.
    nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let store: I420BufferPool.Store?

    /// Allocates a block. Without a store it is freed at the end.
    init(layout: I420Layout, store: I420BufferPool.Store?) {
        self.layout = layout
        self.store = store
        unsafe base = UnsafeMutableRawPointer.allocate(
            byteCount: layout.byteCount, alignment: I420Layout.alignment)
        // Padding that no conversion writes must still be defined memory for readers of whole rows.
        unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: layout.byteCount)
    }

    /// Reuses a block that the store kept.
    init?(address: UInt, layout: I420Layout, store: I420BufferPool.Store) {
        guard let base = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return nil }
        self.layout = layout
        self.store = store
        unsafe self.base = base
    }

    deinit {
        if let store {
            unsafe store.giveBack(UInt(bitPattern: base), layout: layout)
        } else {
            unsafe base.deallocate()
        }
    }

    static func deallocate(_ address: UInt) {
        unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }
}
