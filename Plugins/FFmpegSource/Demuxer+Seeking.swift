import CFFmpeg
import InletCore
import InletFFmpeg

// Unsafe: seeks in the demuxer's libavformat input.
/// Seeking in a file: to the start position, and back to the beginning.
extension Demuxer {
    /// The properties that distinguish the first packet of a stream from the others.
    struct PacketIdentity: Equatable {
        /// The offset in the file, in bytes; negative if the container does not state it.
        var position: Int64
        var pts: Int64?
        var dts: Int64?

        init(_ packet: FFmpegPacket) {
            position = unsafe packet.pointer.pointee.pos
            (pts, dts) = (packet.pts, packet.dts)
        }
    }

    /// The place to which a seek led.
    enum Place {
        /// The key frame before the time.
        case keyFrame
        /// The beginning of the stream, because there is no key frame in between, or the input can only be read
        /// through.
        case beginning
        /// An unknown place: the input must be opened again.
        case unknown
    }

    /// Seeks to a key frame from which every picture at `time` or later can be decoded, counted from the start of the
    /// stream.
    ///
    /// libavformat's own search is not enough: in MPEG-TS it may end between two key frames, and it compares decoding
    /// times, so that the pictures shown before a key frame are missing after it.
    ///
    /// - Returns: the time in ticks, that of the stream's start if it is known, and the place that the seek reached.
    func seek(
        to time: Duration, _ context: SourceContext
    ) throws(InletError) -> (target: Int64, origin: Int64?, place: Place) {
        let nanosecond = Rational(1, 1_000_000_000)
        func ticks(_ nanoseconds: Int64) -> Int64 {
            MediaTime(ticks: nanoseconds, timeBase: nanosecond).rescaled(to: stream.timeBase).ticks
        }
        let start = unsafe formatContext?.pointee.streams[stream.index]?.pointee.start_time ?? inlet_av_nopts_value
        let origin = start == inlet_av_nopts_value ? nil : start
        let target = (origin ?? 0).adding(saturating: ticks(time.wholeNanoseconds))
        guard canSeek, try noteFirst(context) else { return (target, origin, .beginning) }
        var distance: Int64 = 0
        let step = max(1, ticks(1_000_000_000))
        while true {
            let goal = target.subtracting(saturating: distance)
            guard goal > origin ?? 0,
                unsafe av_seek_frame(formatContext, Int32(stream.index), goal, AVSEEK_FLAG_BACKWARD) >= 0
            else { return (target, origin, try rewind(context) ? .beginning : .unknown) }
            if try findKey(notAfter: target, context) { return (target, origin, .keyFrame) }
            distance = max(step, distance.multiplied(saturatingBy: 2))
        }
    }

    /// Reads to the next key frame.
    ///
    /// - Returns: whether it is shown at a time or before.
    private func findKey(notAfter target: Int64, _ context: SourceContext) throws(InletError) -> Bool {
        isPacketPending = false
        while let packet = try nextPacket(context) {
            if packet.isKey {
                isPacketPending = true
                return packet.pts ?? packet.dts ?? target <= target
            }
            if let dts = packet.dts, dts > target { return false }
        }
        return false
    }

    /// Seeks to the beginning of the stream.
    ///
    /// - Returns: whether the next packet is the first. If it is not, the input must be opened again.
    /// - Throws: ``InletError/Code/unsupported`` for an input that can only be read through.
    func rewind(_ context: SourceContext) throws(InletError) -> Bool {
        guard canSeek else {
            throw InletError(
                .unsupported,
                "A pipe can be read only once. Leave out loop, or write to a file and name that.",
                context: .init(operation: "avformat_seek_file"))
        }
        let start = unsafe formatContext?.pointee.start_time ?? 0
        let target = start == inlet_av_nopts_value ? 0 : start
        if unsafe avformat_seek_file(formatContext, -1, .min, target, target, AVSEEK_FLAG_BACKWARD) >= 0,
            try isAtFirst(context)
        {
            return true
        }
        // MPEG-TS has no index that locates its first packet, and raw streams have no times.
        let flags = unsafe formatContext?.pointee.iformat?.pointee.flags ?? AVFMT_NO_BYTE_SEEK
        guard flags & AVFMT_NO_BYTE_SEEK == 0,
            unsafe av_seek_frame(formatContext, Int32(stream.index), 0, AVSEEK_FLAG_BYTE) >= 0
        else { return false }
        return try isAtFirst(context)
    }

    /// Whether the next packet is the first of the stream.
    private func isAtFirst(_ context: SourceContext) throws(InletError) -> Bool {
        isPacketPending = false
        guard let packet = try nextPacket(context) else { return false }
        isPacketPending = true
        return PacketIdentity(packet) == firstPacket
    }

    /// Reads the first packet, which stays the next one.
    ///
    /// - Returns: whether there is one.
    private func noteFirst(_ context: SourceContext) throws(InletError) -> Bool {
        guard try nextPacket(context) != nil else { return false }
        isPacketPending = true
        return true
    }

    /// Whether the input can be read again from another place.
    private var canSeek: Bool {
        guard let input = unsafe formatContext else { return false }
        // A series of pictures has no single file.
        guard let io = unsafe input.pointee.pb else { return true }
        return unsafe io.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0
    }
}
