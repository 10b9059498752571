/// How a picture lies in one block of memory: Y, U, V one after another, rows and planes aligned.
struct I420Layout: Sendable, Hashable {
    /// Bytes to which rows and planes are aligned.
    static let alignment = 64

    let size: ImageSize
    let strides: I420Buffer.Strides
    let uOffset: Int
    let vOffset: Int
    let byteCount: Int

    init(size: ImageSize) {
        func aligned(_ count: Int) -> Int { (count + Self.alignment - 1) / Self.alignment * Self.alignment }
        let chromaStride = aligned(size.chroma.width)
        self.size = size
        strides = I420Buffer.Strides(y: aligned(size.width), u: chromaStride, v: chromaStride)
        uOffset = strides.y * size.height
        vOffset = uOffset + chromaStride * size.chroma.height
        byteCount = vOffset + chromaStride * size.chroma.height
    }

    func offset(of plane: I420Buffer.Plane) -> Int {
        switch plane {
        case .y: 0
        case .u: uOffset
        case .v: vOffset
        }
    }
}

/// The one owner of a block of picture memory. Its end gives the block back to the pool.
@safe final class I420Memory: Sendable {
    let layout: I420Layout
    // Written only through the one `I420Draft` that holds this object, and never after publication.
    nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let store: I420BufferPool.Store?

    /// A new block. Without a store it is freed at its end.
    init(layout: I420Layout, store: I420BufferPool.Store?) {
        self.layout = layout
        self.store = store
        unsafe base = UnsafeMutableRawPointer.allocate(
            byteCount: layout.byteCount, alignment: I420Layout.alignment)
        // Padding that no conversion writes must still be defined memory for whoever reads whole rows.
        unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: layout.byteCount)
    }

    /// A block that the store kept.
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
