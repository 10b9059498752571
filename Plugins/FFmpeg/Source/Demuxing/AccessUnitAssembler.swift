import CFFmpeg
import InletCore
import InletFFmpeg

// Unsafe: owns a libavcodec parser and reads the first bytes of packets.
/// Joins the payloads of RTP packets (RFC 6184, RFC 7798) into access units: all data of one picture.
///
/// libavformat's parser does so as well, but does not see RTP packets. UDP may deliver a packet twice, and libavformat
/// (5.1) then takes the duplicate for the next packet: a picture would contain a piece of itself twice, which decoders
/// do not detect reliably. This assembler drops duplicates. It also bounds the memory for a server that never ends a
/// picture, to that of the largest permitted one.
///
/// NAL units mark the end of a picture. Times do not: libavformat (5.1) restarts the clocks of two video streams at
/// each sender report, so times shift slightly within a picture.
///
/// Confined to the capture thread.
@safe final class AccessUnitAssembler {
    private let codec: VideoCodec
    /// Whether payloads arrive over UDP, which may deliver them twice.
    private let comesByUDP: Bool
    private let parser: UnsafeMutablePointer<AVCodecParserContext>
    private let context: UnsafeMutablePointer<AVCodecContext>
    /// The data of the current picture so far.
    private var unit: FFmpegPacket
    /// The last complete unit that was returned.
    private var whole: FFmpegPacket
    /// The last payload.
    private var latest: FFmpegPacket
    /// Whether the unit has picture data, after which parameter sets belong to the next picture.
    private var hasPicture = false
    /// Whether the next payload may be from the middle of a picture.
    private var isJoining = true
    private var losses = 0

    /// An upper limit for the pictures that encoders produce at 8192x8192.
    private static let mostBytes = 64 << 20
    /// The largest shift of times within a picture: 10 ms of the 90 kHz clock that all video has in RTP, which is less
    /// than the duration of any picture.
    private static let shift = 900
    /// The longest period in bytes with which the data of a flat picture repeats: that of one macroblock.
    private static let longestPeriod = 64

    /// The codec of the RTP payloads.
    enum VideoCodec { case h264, hevc }

    /// Creates an assembler for a stream.
    ///
    /// - Parameter parameters: the stream's parameters.
    /// - Returns: nil for a codec whose payloads libavformat itself joins.
    @unsafe init?(_ parameters: UnsafePointer<AVCodecParameters>, comesByUDP: Bool) throws(InletError) {
        self.comesByUDP = comesByUDP
        switch unsafe parameters.pointee.codec_id {
        case AV_CODEC_ID_H264: codec = .h264
        case AV_CODEC_ID_HEVC: codec = .hevc
        default: return nil
        }
        unit = try FFmpegPacket()
        whole = try FFmpegPacket()
        latest = try FFmpegPacket()
        guard let context = unsafe avcodec_alloc_context3(nil) else {
            throw InletError(ffmpeg: -ENOMEM, operation: "avcodec_alloc_context3")
        }
        guard unsafe avcodec_parameters_to_context(context, parameters) >= 0,
            let parser = unsafe av_parser_init(Int32(parameters.pointee.codec_id.rawValue))
        else {
            var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
            unsafe avcodec_free_context(&context)
            throw InletError(
                .unsupported, "The installed libavcodec has no parser for the codec. Try a fuller build of FFmpeg.")
        }
        unsafe parser.pointee.flags |= PARSER_FLAG_COMPLETE_FRAMES
        unsafe self.context = context
        unsafe self.parser = parser
    }

    deinit {
        unsafe av_parser_close(parser)
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe self.context
        unsafe avcodec_free_context(&context)
    }

    /// Adds the next payload.
    ///
    /// - Parameters:
    ///   - payload: the payload, which is exchanged for another packet to fill next.
    ///   - isAfterLoss: whether data is missing before the payload. A unit whose end or beginning is missing is marked
    ///     as corrupt.
    /// - Returns: the access unit that the payload completes, valid until the next one.
    func add(_ payload: inout FFmpegPacket, isAfterLoss: Bool) throws(InletError) -> FFmpegPacket? {
        guard !cameTwice(payload) else { return nil }
        swap(&payload, &latest)
        let opening = latest.withBytes { codec.opening($0) }
        if isAfterLoss { unit.markCorrupt() }
        let ended = beginsUnit(opening, isAfterLoss: isAfterLoss) ? takeLast() : nil
        if unit.byteCount == 0 {
            try unit.begin(like: latest, capacity: whole.byteCount)
            if (isAfterLoss || isJoining) && !opening.mayBeginUnit { unit.markCorrupt() }
            isJoining = false
        }
        hasPicture = hasPicture || opening == .firstSlice || opening == .laterSlice
        if unit.byteCount + latest.byteCount > Self.mostBytes {
            unit.unref()
            losses += 1
        } else {
            try unit.append(latest)
        }
        return ended
    }

    /// Returns whether the payload is a duplicate of the previous one. In a flat picture different payloads may be
    /// equal, but those also repeat within themselves.
    private func cameTwice(_ payload: FFmpegPacket) -> Bool {
        comesByUDP && payload.isSame(as: latest) && !payload.withBytes { $0.repeatsItself(within: Self.longestPeriod) }
    }

    /// Returns whether the last payload belongs to another picture than the previous ones.
    private func beginsUnit(_ opening: VideoCodec.Opening, isAfterLoss: Bool) -> Bool {
        let hasOtherTime = latest.pts != unit.pts
        switch opening {
        case .preamble, .firstSlice: return hasPicture || isAfterLoss && hasOtherTime
        // After a loss it may belong to any picture; otherwise the beginning of its picture has arrived.
        case .other: return isAfterLoss && hasOtherTime
        case .laterSlice:
            guard let one = latest.pts, let other = unit.pts else { return isAfterLoss && hasOtherTime }
            return isAfterLoss && hasOtherTime || one.subtracting(saturating: other).magnitude > Self.shift
        }
    }

    /// Returns the last access unit at the end of the stream; nil if there is no data.
    func takeLast() -> FFmpegPacket? {
        guard unit.byteCount > 0 else { return nil }
        swap(&unit, &whole)
        unit.unref()
        hasPicture = false
        noteKind(whole)
        return whole
    }

    /// Discards the data of a picture whose rest will not arrive.
    func reset() {
        unit.unref()
        latest.unref()
        hasPicture = false
        isJoining = true
    }

    /// Returns the number of units that were dropped as too large since the last call.
    func takeLosses() -> Int {
        defer { losses = 0 }
        return losses
    }

    /// Marks a unit as a key frame if decoding can start with it, according to libavcodec's parser.
    private func noteKind(_ unit: FFmpegPacket) {
        var output: UnsafeMutablePointer<UInt8>?
        var count: Int32 = 0
        unsafe av_parser_parse2(
            parser, context, &output, &count, unit.pointer.pointee.data, unit.pointer.pointee.size,
            unit.pointer.pointee.pts, unit.pointer.pointee.dts, 0)
        let isKey = unsafe parser.pointee.key_frame
        guard unsafe isKey == 1 || isKey < 0 && parser.pointee.pict_type == Int32(AV_PICTURE_TYPE_I.rawValue) else {
            return
        }
        unit.markKey()
    }
}

extension AccessUnitAssembler.VideoCodec {
    /// The kind of data at the start of a payload.
    enum Opening {
        /// The middle of a NAL unit, or a NAL unit that does not mark the beginning of a picture.
        case other
        /// Parameter sets, a delimiter or a message, which precede a picture.
        case preamble
        /// The first slice of a picture.
        case firstSlice
        case laterSlice

        /// Whether this belongs to the next picture if it follows the data of one.
        var mayBeginUnit: Bool { self == .preamble || self == .firstSlice }
    }

    /// Returns the kind of data at the start of a payload, by the NAL unit's type: H.264 table 7-1 and section
    /// 7.4.1.2.3; H.265 table 7-1 and section 7.4.2.4.4.
    func opening(_ payload: RawSpan) -> Opening {
        guard let start = payload.endOfStartCode, payload.byteCount > start else { return .other }
        let first = payload[start]
        let hasSliceHeader = payload.byteCount > start + 2
        switch self {
        case .h264:
            // A slice begins with the number of its first macroblock: 0 is encoded as a single set bit.
            switch first & 0x1f {
            case 1, 2, 5: return !hasSliceHeader ? .other : payload[start + 1] & 0x80 != 0 ? .firstSlice : .laterSlice
            // Type 14 is excluded: it is the prefix of every slice in an SVC stream.
            case 6...9, 15...18: return .preamble
            default: return .other
            }
        case .hevc:
            switch first >> 1 & 0x3f {
            case 0...31: return !hasSliceHeader ? .other : payload[start + 2] & 0x80 != 0 ? .firstSlice : .laterSlice
            case 32...35, 39, 41...44, 48...55: return .preamble
            default: return .other
            }
        }
    }
}

extension RawSpan {
    /// The offset of a NAL unit after its start code (00 00 01, with or without another 00); nil without a start code.
    fileprivate var endOfStartCode: Int? {
        guard byteCount > 4, self[0] == 0, self[1] == 0 else { return nil }
        if self[2] == 1 { return 3 }
        return self[2] == 0 && self[3] == 1 ? 4 : nil
    }

    /// Returns whether the data repeats one short stretch. The bytes at both ends may belong to a header or to the
    /// next stretch.
    fileprivate func repeatsItself(within longest: Int) -> Bool {
        let margin = 8
        guard byteCount > 2 * margin + 2 * longest else { return true }
        return (1...longest).contains { period in
            (margin..<byteCount - margin - period).allSatisfy { self[$0] == self[$0 + period] }
        }
    }

    fileprivate subscript(index: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self) }
}
