import CFFmpeg
import InletCore

// Unsafe: owns libavformat's view of an HTTP input.
/// libavformat's view of an input over HTTP.
extension HTTPInput {
    /// Returns an AVIOContext that reads this input and owns it until ``close(_:)``.
    @unsafe func makeIO() -> UnsafeMutablePointer<AVIOContext>? {
        guard
            let facts = unsafe av_mallocz(MemoryLayout<inlet_io_facts>.size)?.assumingMemoryBound(
                to: inlet_io_facts.self),
            let buffer = unsafe av_malloc(Int(Self.bufferSize))?.assumingMemoryBound(to: UInt8.self)
        else { return nil }
        unsafe facts.pointee.class = inlet_io_facts_class()
        unsafe facts.pointee.mime_type = av_strdup(contentType)
        unsafe facts.pointee.location = av_strdup(location)
        guard
            let io = unsafe avio_alloc_context(
                buffer, Self.bufferSize, 0, facts,
                { facts, buffer, count in
                    guard let input = unsafe HTTPInput.at(facts), let buffer = unsafe buffer else {
                        return inlet_averror_exit
                    }
                    let memory = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: Int(max(0, count)))
                    return unsafe input.fill(memory)
                }, nil,
                { facts, offset, whence in
                    guard let input = unsafe HTTPInput.at(facts) else { return Int64(inlet_averror_exit) }
                    return input.seek(offset, whence)
                })
        else {
            unsafe av_free(buffer)
            unsafe av_free(facts)
            return nil
        }
        unsafe facts.pointee.owner = Unmanaged.passRetained(self).toOpaque()
        unsafe io.pointee.av_class = inlet_io_class()
        unsafe io.pointee.seekable = isSeekable && isWhole ? AVIO_SEEKABLE_NORMAL : 0
        return unsafe io
    }

    @unsafe private static func at(_ facts: UnsafeMutableRawPointer?) -> HTTPInput? {
        guard let facts = unsafe facts?.assumingMemoryBound(to: inlet_io_facts.self),
            let owner = unsafe facts.pointee.owner
        else { return nil }
        return unsafe Unmanaged<HTTPInput>.fromOpaque(owner).takeUnretainedValue()
    }

    /// Frees an AVIOContext, including its input. It may be one that ``makeIO()`` or ``MotionJPEGInput/makeIO()``
    /// made, one that reads only from its buffer, or one that libavformat itself opened.
    @unsafe static func close(_ io: UnsafeMutablePointer<AVIOContext>) {
        guard unsafe inlet_io_is_ours(io) != 0 else {
            unsafe avio_close(io)
            return
        }
        var io: UnsafeMutablePointer<AVIOContext>? = unsafe io
        if let facts = unsafe io?.pointee.opaque?.assumingMemoryBound(to: inlet_io_facts.self) {
            if let owner = unsafe facts.pointee.owner { unsafe Unmanaged<AnyObject>.fromOpaque(owner).release() }
            unsafe av_free(facts.pointee.mime_type)
            unsafe av_free(facts.pointee.location)
            unsafe av_free(facts)
        }
        unsafe av_free(io?.pointee.buffer)
        unsafe avio_context_free(&io)
    }
}
