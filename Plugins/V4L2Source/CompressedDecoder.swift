import CFFmpeg
import CYUV
import InletCore
import InletFFmpeg

/// Decodes what a camera compresses: JPEGs by libyuv, which turns them into I420 in one pass, and all else by
/// libavcodec.
///
/// Confined to the capture thread.
@safe final class CompressedDecoder {
    /// What became of compressed data.
    enum Output {
        case picture(I420Buffer)
        case frame(FFmpegFrame)
        /// The decoder waits for more, or it was a packet without a picture.
        case nothing
        case undecodable
    }

    private let codec: String
    private let pool: I420BufferPool
    private let size: ImageSize
    private var decoder: FFmpegDecoder?
    private var packet: FFmpegPacket?
    /// libyuv takes the samplings that cameras use; FFmpeg's own JPEGs have others, and then it would fail each time.
    private var usesYUV: Bool

    init(codec: String, size: ImageSize, pool: I420BufferPool) {
        self.codec = codec
        self.size = size
        self.pool = pool
        usesYUV = codec == "mjpeg"
    }

    /// Whether every picture stands for itself.
    var isIntra: Bool { codec == "mjpeg" }

    /// Decodes a camera's buffer.
    ///
    /// - Parameter pts: in microseconds; it comes back with the frame.
    /// - Throws: ``InletError/Code/resourceExhausted`` where all pictures are held; ``InletError/Code/unsupported``
    ///   without a decoder.
    @unsafe func decode(_ bytes: UnsafeRawBufferPointer, pts: Int64?) throws(InletError) -> Output {
        if isIntra {
            guard unsafe Self.isWholeJPEG(bytes) else { return .undecodable }
            if usesYUV, let picture = unsafe try decodeJPEG(bytes) { return .picture(picture) }
        }
        let decoder = try openDecoder()
        if packet == nil { packet = try FFmpegPacket() }
        guard let packet else { return .nothing }
        // Without a buffer of its own, libavcodec copies the data.
        unsafe packet.pointer.pointee.data = UnsafeMutablePointer(
            mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        unsafe packet.pointer.pointee.size = Int32(clamping: bytes.count)
        packet.pts = pts
        defer { packet.unref() }
        guard decoder.send(packet) >= 0 else { return .undecodable }
        return try receive(decoder)
    }

    private func receive(_ decoder: FFmpegDecoder) throws(InletError) -> Output {
        switch try decoder.receive() {
        case .frame(let frame): .frame(frame)
        case .needsInput, .ended: .nothing
        case .undecodable: .undecodable
        }
    }

    /// Nil where libyuv cannot read it.
    @unsafe private func decodeJPEG(_ bytes: UnsafeRawBufferPointer) throws(InletError) -> I420Buffer? {
        var draft = try pool.makeBuffer(size: size)
        let strides = draft.strides
        let y = unsafe draft.mutableBaseAddress(of: .y)
        let u = unsafe draft.mutableBaseAddress(of: .u)
        let v = unsafe draft.mutableBaseAddress(of: .v)
        let (width, height) = (Int32(size.width), Int32(size.height))
        let status = unsafe MJPGToI420(
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, y, Int32(strides.y), u,
            Int32(strides.u), v, Int32(strides.v), width, height, width, height)
        guard status == 0 else {
            usesYUV = false
            return nil
        }
        return draft.publish()
    }

    /// Whether the data begins and ends as a JPEG does: a cut one would be filled up with grey. Cameras put zeros
    /// behind.
    @unsafe static func isWholeJPEG(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > 4, unsafe bytes[0] == 0xFF, unsafe bytes[1] == 0xD8 else { return false }
        guard let last = unsafe bytes.lastIndex(where: { $0 != 0 }) else { return false }
        return unsafe last > 2 && bytes[last] == 0xD9 && bytes[last - 1] == 0xFF
    }

    private func openDecoder() throws(InletError) -> FFmpegDecoder {
        if let decoder { return decoder }
        FFmpegLogging.install()
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(codec) else {
            throw InletError(
                .unsupported, "The installed libavcodec does not know \(codec). Try a fuller build of FFmpeg.")
        }
        var parameters = unsafe avcodec_parameters_alloc()
        defer { unsafe avcodec_parameters_free(&parameters) }
        guard let parameters = unsafe parameters else {
            throw InletError(ffmpeg: -ENOMEM, operation: "avcodec_parameters_alloc")
        }
        unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        unsafe parameters.pointee.codec_id = descriptor.pointee.id
        unsafe parameters.pointee.width = Int32(size.width)
        unsafe parameters.pointee.height = Int32(size.height)
        var options = FFmpegDecoder.Options()
        // Each further thread would hold a frame back.
        options.threads = 1
        // Each JPEG states its size anew, and none is larger than the driver was asked for.
        if isIntra { options.maximumPixels = size.decodedPixelCount }
        let made = unsafe try FFmpegDecoder(parameters, timeBase: AVRational(num: 1, den: 1_000_000), options: options)
        decoder = made
        return made
    }
}
