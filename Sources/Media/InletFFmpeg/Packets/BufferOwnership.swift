package import CFFmpeg

// Unsafe: gives libavutil a reference to a Swift owner, released in a callback.
/// Lends memory that a Swift object owns to libav*, without a copy.
package enum BufferOwnership {
    /// Returns a read-only libav* buffer of the memory, which keeps `owner` alive until libav* releases its last
    /// reference, on any thread; nil if there is no memory.
    @unsafe package static func buffer(
        _ memory: UnsafeRawBufferPointer, owner: any AnyObject & Sendable
    ) -> UnsafeMutablePointer<AVBufferRef>? {
        guard let base = memory.baseAddress else { return nil }
        let opaque = unsafe Unmanaged<AnyObject>.passRetained(owner).toOpaque()
        // libav* takes mutable pointers, but does not write if the buffer is marked as read-only.
        let bytes = unsafe UnsafeMutableRawPointer(mutating: base).assumingMemoryBound(to: UInt8.self)
        let buffer = unsafe av_buffer_create(
            bytes, memory.count,
            { opaque, _ in
                guard let opaque = unsafe opaque else { return }
                unsafe Unmanaged<AnyObject>.fromOpaque(opaque).release()
            }, opaque, Int32(AV_BUFFER_FLAG_READONLY))
        if unsafe buffer == nil { unsafe Unmanaged<AnyObject>.fromOpaque(opaque).release() }
        return unsafe buffer
    }
}
