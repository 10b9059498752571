package import CFFmpeg
package import InletCore

/// Owns one `AVPacket`: compressed data on its way from a demuxer to a decoder.
///
/// Confined to one thread. Reused from packet to packet; ``unref()`` lets go of the data in between.
@safe package final class FFmpegPacket {
    /// Valid as long as the object lives.
    package let pointer: UnsafeMutablePointer<AVPacket>

    /// - Throws: ``InletError/Code/resourceExhausted`` where there is no memory.
    package init() throws(InletError) {
        guard let packet = unsafe av_packet_alloc() else {
            throw InletError(ffmpeg: -ENOMEM, operation: "av_packet_alloc")
        }
        unsafe pointer = packet
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = unsafe pointer
        unsafe av_packet_free(&packet)
    }

    /// Lets go of the data. The packet can be filled again.
    package func unref() { unsafe av_packet_unref(pointer) }

    /// Calls `body` with the data.
    package func withBytes<Value>(_ body: (RawSpan) -> Value) -> Value {
        unsafe body(UnsafeRawBufferPointer(start: pointer.pointee.data, count: max(0, byteCount)).bytes)
    }

    /// Whether the other packet ends with the very same bytes.
    package func isEnd(of other: FFmpegPacket) -> Bool {
        let skipped = other.byteCount - byteCount
        guard byteCount > 0, skipped >= 0, let own = unsafe pointer.pointee.data,
            let others = unsafe other.pointer.pointee.data
        else { return false }
        return unsafe memcmp(own, others + skipped, byteCount) == 0
    }

    package var streamIndex: Int { unsafe Int(pointer.pointee.stream_index) }
    package var byteCount: Int { unsafe Int(pointer.pointee.size) }
    /// In ticks of the stream's time base; nil where the container gives none.
    package var pts: Int64? {
        get { unsafe Ticks.value(pointer.pointee.pts) }
        set { unsafe pointer.pointee.pts = newValue ?? inlet_av_nopts_value }
    }
    package var dts: Int64? {
        get { unsafe Ticks.value(pointer.pointee.dts) }
        set { unsafe pointer.pointee.dts = newValue ?? inlet_av_nopts_value }
    }
    /// In ticks of the stream's time base; 0 where it is not known.
    package var duration: Int64 { unsafe pointer.pointee.duration }
    /// The demuxer saw that the data is not whole.
    package var isCorrupt: Bool { unsafe pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }
    /// The sender's time of day for the packet, in nanoseconds since 1970, where the container tells (RTCP sender reports).
    package var wallClock: Int64? {
        var size = 0
        guard let data = unsafe av_packet_get_side_data(pointer, AV_PKT_DATA_PRFT, &size),
            size >= MemoryLayout<AVProducerReferenceTime>.size
        else { return nil }
        let microseconds = unsafe UnsafeRawPointer(data).loadUnaligned(as: AVProducerReferenceTime.self).wallclock
        return microseconds > 0 ? microseconds.multipliedReportingOverflow(by: 1000).partialValue : nil
    }
    package var isKey: Bool { unsafe pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }
}

/// libav*'s way to say "no time".
enum Ticks {
    static func value(_ ticks: Int64) -> Int64? { ticks == inlet_av_nopts_value ? nil : ticks }
}
