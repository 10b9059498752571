import CFFmpeg
import InletCore

// Unsafe: owns libavformat's view of an input and reads another one.
/// Motion JPEG from a server, for libavformat. Finds pictures with ``MotionJPEGReader`` and passes each on as a part
/// of a multipart stream that libavformat's demuxer accepts, whatever the server sent between them.
///
/// Confined to the thread that reads it.
@safe final class MotionJPEGInput {
    /// The demuxer that reads the parts.
    static let demuxer = "mpjpeg"
    private static let boundary = Array("--picture\r\n".utf8)

    private var inner: UnsafeMutablePointer<AVIOContext>
    private var reader = MotionJPEGReader()
    /// The rest of the data to pass on. The boundary of the first picture is available before the picture has arrived,
    /// so that the input can be opened.
    private var part = MotionJPEGInput.boundary[...]
    /// Whether a picture was passed on.
    private var hasPassed = false
    private var arrived = [UInt8](repeating: 0, count: Int(HTTPInput.bufferSize))

    /// - Parameter inner: the input to read, which this object now owns.
    @unsafe init(reading inner: UnsafeMutablePointer<AVIOContext>) { unsafe self.inner = inner }

    deinit { unsafe HTTPInput.close(inner) }

    /// Returns an AVIOContext that reads the parts and owns this object until ``HTTPInput/close(_:)``; nil if there is
    /// not enough memory.
    @unsafe func makeIO() -> UnsafeMutablePointer<AVIOContext>? {
        guard
            let facts = unsafe av_mallocz(MemoryLayout<inlet_io_facts>.size)?.assumingMemoryBound(
                to: inlet_io_facts.self),
            let buffer = unsafe av_malloc(Int(HTTPInput.bufferSize))?.assumingMemoryBound(to: UInt8.self)
        else { return nil }
        unsafe facts.pointee.class = inlet_io_facts_class()
        guard
            let io = unsafe avio_alloc_context(
                buffer, HTTPInput.bufferSize, 0, facts,
                { facts, buffer, count in
                    guard let facts = unsafe facts?.assumingMemoryBound(to: inlet_io_facts.self),
                        let owner = unsafe facts.pointee.owner, let buffer = unsafe buffer
                    else { return inlet_averror_exit }
                    let input = unsafe Unmanaged<MotionJPEGInput>.fromOpaque(owner).takeUnretainedValue()
                    let memory = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: Int(max(0, count)))
                    return unsafe input.fill(memory)
                }, nil, nil)
        else {
            unsafe av_free(buffer)
            unsafe av_free(facts)
            return nil
        }
        unsafe facts.pointee.owner = Unmanaged<AnyObject>.passRetained(self).toOpaque()
        unsafe io.pointee.av_class = inlet_io_class()
        return unsafe io
    }

    /// Reads into the buffer. libavformat's callback.
    @unsafe private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int32 {
        while part.isEmpty {
            if let picture = reader.next() {
                pass(picture)
                break
            }
            let code = readMore()
            if code < 0, let picture = code == inlet_averror_eof ? reader.finish() : nil {
                pass(picture)
            } else if code < 0 {
                return code
            }
        }
        let count = min(buffer.count, part.count)
        unsafe part.withUnsafeBytes {
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
        part = part.dropFirst(count)
        return Int32(clamping: count)
    }

    private func pass(_ picture: [UInt8]) {
        part = hasPassed ? Self.boundary[...] : []
        part += "Content-Type: image/jpeg\r\nContent-Length: \(picture.count)\r\n\r\n".utf8
        part += picture
        part += "\r\n".utf8
        hasPassed = true
    }

    /// Reads received data. Returns 0, or libavformat's code.
    private func readMore() -> Int32 {
        guard !reader.isHopeless else { return inlet_averror_invaliddata }
        let count = unsafe avio_read_partial(inner, &arrived, Int32(arrived.count))
        guard count > 0 else { return count < 0 ? count : inlet_averror_eof }
        reader.append(arrived[..<Int(count)])
        return 0
    }
}
