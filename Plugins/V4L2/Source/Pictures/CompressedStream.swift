import InletCore
import InletFFmpeg

// Unsafe: copies compressed pictures out of a driver's buffers.
/// Makes packets of a camera's compressed data, and checks whether a buffer holds a complete picture and whether
/// decoding can start with it.
///
/// The data is copied and the driver's buffer freed at once, because packets wait in queues for much longer than
/// pictures do, and because libraries read zeros after the end of a packet, which a driver's buffer does not have. A
/// copy takes a few microseconds, while decoding takes milliseconds.
///
/// Confined to one thread at a time.
@safe final class CompressedStream {
    /// The result of processing a buffer.
    enum Output {
        /// An access unit. Its flags are ``PacketFlags/key`` and ``PacketFlags/loss``.
        case packet(data: PacketData, parameters: CodecParameters, flags: PacketFlags)
        /// Only parameter sets, which precede the next picture.
        case header
        /// Other data, or a JPEG that is truncated or larger than requested.
        case undecodable
        /// No memory is free for the packet.
        case exhausted
    }

    private var parameters: CodecParameters
    private let largest: Int
    /// The parser that finds key frames; nil if pictures do not refer to others.
    private let parser: PacketParser?
    private var header: [UInt8] = []
    /// Whether data is missing before the next packet.
    private var hasLoss = false

    /// The maximum length of parameter sets, in bytes.
    private static let longestHeader = 4096

    /// - Parameter parameters: the driver's information about the stream. A JPEG must not be larger than its size.
    init(_ parameters: CodecParameters) {
        self.parameters = parameters
        largest = parameters.size.decodedPixelCount
        parser = parameters.codec == .mjpeg ? nil : PacketParser(parameters.codec)
    }

    /// Whether pictures do not refer to others.
    var isIntra: Bool { parser == nil }

    /// Records that a picture was lost, or was too damaged to be passed on.
    func noteLoss() { hasLoss = parser != nil }

    /// Copies a buffer's data.
    ///
    /// - Parameters:
    ///   - isKey: whether decoding can start with this picture, according to the driver.
    ///   - isDamaged: whether this picture is damaged, according to the driver.
    @unsafe func packet(
        of bytes: UnsafeRawBufferPointer, isKey: Bool, isDamaged: Bool
    ) -> Output {
        if parameters.codec == .mjpeg { return unsafe jpeg(bytes, isDamaged: isDamaged) }
        if unsafe isHeader(bytes) {
            guard !isDamaged else { return .undecodable }
            // Each set may arrive in its own buffer. Too many bytes cannot be parameter sets.
            if header.count + bytes.count > Self.longestHeader { header = [] }
            unsafe header.append(contentsOf: bytes)
            return .header
        }
        let data = unsafe header.withUnsafeBytes { unsafe PacketData(copying: [$0, bytes]) }
        header = []
        var flags: PacketFlags = isKey || parser == nil ? .key : []
        if parser != nil {
            guard let packet = try? FFmpegPacket(), (try? packet.fill(sharing: data)) != nil else { return .exhausted }
            // The parser must see every packet, whatever the driver's flags are.
            if parser?.isKey(packet) == true { flags.insert(.key) }
            // For consumers that take packets without decoding, now or later: the packets' format must not change in
            // mid-stream.
            if flags.contains(.key), parameters.extraData.isEmpty {
                parameters.extraData = PacketInspection.parameterSets(in: packet, parameters.codec) ?? []
            }
        }
        // A key frame does not depend on earlier data.
        if isDamaged || hasLoss && !flags.contains(.key) { flags.insert(.loss) }
        hasLoss = false
        return .packet(data: data, parameters: parameters, flags: flags)
    }

    @unsafe private func jpeg(_ bytes: UnsafeRawBufferPointer, isDamaged: Bool) -> Output {
        guard let end = unsafe Self.endOfJPEG(bytes) else { return .undecodable }
        let picture = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<end])
        guard let size = unsafe JPEGHeader.size(in: picture.bytes), size.isValid, size.pixelCount <= largest else {
            return .undecodable
        }
        parameters.size = size
        return .packet(
            data: unsafe PacketData(copying: [picture]), parameters: parameters,
            flags: isDamaged ? [.key, .loss] : .key)
    }

    /// Returns the end of a JPEG; nil if the data does not begin and end like a JPEG, because a truncated JPEG would
    /// be filled up with grey. Cameras append zeros.
    @unsafe private static func endOfJPEG(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count > 4, unsafe bytes[0] == 0xFF, unsafe bytes[1] == 0xD8,
            let last = unsafe bytes.lastIndex(where: { $0 != 0 }), last > 2
        else { return nil }
        return unsafe bytes[last] == 0xD9 && bytes[last - 1] == 0xFF ? last + 1 : nil
    }

    /// Returns whether the data has NAL units but no slice, because encoders may send parameter sets in a separate
    /// buffer (V4L2_MPEG_VIDEO_HEADER_MODE_SEPARATE).
    @unsafe private func isHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard parameters.codec == .h264 || parameters.codec == .hevc, (5...Self.longestHeader).contains(bytes.count)
        else { return false }
        var hasUnits = false
        for index in 3..<bytes.count
        where unsafe bytes[index - 3] == 0 && bytes[index - 2] == 0 && bytes[index - 1] == 1 {
            hasUnits = true
            // ITU-T H.264, table 7-1: slices are 1 to 5. H.265, table 7-1: 0 to 31.
            let first = unsafe bytes[index]
            let isSlice = parameters.codec == .h264 ? (1...5).contains(first & 0x1F) : first >> 1 & 0x3F < 32
            if isSlice { return false }
        }
        return hasUnits
    }
}
