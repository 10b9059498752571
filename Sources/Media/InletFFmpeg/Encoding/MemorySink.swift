package import CFFmpeg
package import InletCore

// Unsafe: owns the buffer to which libavformat writes.
/// Owns libavformat's view of bytes in memory that grow as a muxer writes. Confined to one thread.
@safe package final class MemorySink {
    package private(set) var io: UnsafeMutablePointer<AVIOContext>?
    private var bytes: [UInt8] = []
    private static let bufferSize: Int32 = 65_536

    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    package init() throws(InletError) {
        let buffer = unsafe av_malloc(Int(Self.bufferSize))
        if let buffer = unsafe buffer {
            unsafe io = inlet_avio_output(
                buffer.assumingMemoryBound(to: UInt8.self), Self.bufferSize,
                Unmanaged.passUnretained(self).toOpaque(),
                { opaque, data, count in
                    guard let opaque = unsafe opaque, let data = unsafe data else { return -EINVAL }
                    let sink = unsafe Unmanaged<MemorySink>.fromOpaque(opaque).takeUnretainedValue()
                    unsafe sink.bytes.append(contentsOf: UnsafeBufferPointer(start: data, count: Int(count)))
                    return count
                }, nil)
        }
        guard unsafe io != nil else {
            unsafe av_free(buffer)
            throw InletError(ffmpeg: -ENOMEM, operation: "avio_alloc_context")
        }
        unsafe io?.pointee.seekable = 0
    }

    deinit {
        guard let io = unsafe io else { return }
        unsafe av_free(io.pointee.buffer)
        unsafe avio_context_free(&self.io)
    }

    /// Returns the bytes written since the last call.
    package func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
