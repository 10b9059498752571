/// The memory of a picture. Instances are counted.
@safe final class PictureMemory: Sendable {
    // Written in `init` only, and freed once.
    nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer

    init(_ content: [UInt8]) {
        unsafe bytes = .allocate(byteCount: content.count, alignment: 1)
        unsafe bytes.copyBytes(from: content)
        Ledger.shared.made()
    }

    deinit {
        unsafe bytes.deallocate()
        Ledger.shared.freed()
    }
}
