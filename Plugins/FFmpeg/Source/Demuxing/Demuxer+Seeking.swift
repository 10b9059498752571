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

    /// The position that a seek reached.
    enum Place {
        /// The key frame before the time.
        case keyFrame
        /// The beginning of the stream, because there is no key frame in between, or because the input can only be
        /// read from its start.
        case beginning
        /// An unknown position: the input must be opened again.
        case unknown
    }

    /// Seeks to a key frame from which every picture at or after `time`, counted from the start of the stream, can be
    /// decoded.
    ///
    /// libavformat's own search is not sufficient: in MPEG-TS it may end between two key frames, and it compares
    /// decoding times, so the pictures shown before a key frame would be missing after it.
    ///
    /// - Returns: the time in ticks, that of the stream's start if it is known, and the position that the seek
    ///   reached.
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
    /// - Returns: whether the key frame is shown at `target` or earlier.
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
    /// - Returns: whether the next packet is the first one. If it is not, the input must be opened again.
    /// - Throws: ``InletError/Code/unsupported`` for an input that can only be read from its start.
    func rewind(_ context: SourceContext) throws(InletError) -> Bool {
        guard canSeek else {
            throw InletError(
                .unsupported,
                "A pipe can be read only once. Leave out loop, or save the data to a file first.",
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

    /// Reads the first packet, which remains the next packet to return.
    ///
    /// - Returns: whether there is a packet.
    private func noteFirst(_ context: SourceContext) throws(InletError) -> Bool {
        guard try nextPacket(context) != nil else { return false }
        isPacketPending = true
        return true
    }

    /// Whether the input can be read from another position.
    private var canSeek: Bool {
        guard let input = unsafe formatContext else { return false }
        // A series of pictures is not a single file.
        guard let io = unsafe input.pointee.pb else { return true }
        return unsafe io.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0
    }
}
