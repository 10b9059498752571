package import CFFmpeg
package import InletCore

// Unsafe: owns an `AVPacket`.
/// Owns one `AVPacket`: compressed data on its way from a demuxer to a decoder.
///
/// Confined to one thread. Reused from packet to packet; ``unref()`` releases the data in between.
@safe package final class FFmpegPacket {
    /// The packet, valid as long as the object lives.
    package let pointer: UnsafeMutablePointer<AVPacket>

    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
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

    /// Releases the data. The packet can be refilled.
    package func unref() { unsafe av_packet_unref(pointer) }

    /// Makes the packet, which is empty, share data, with its side data if libavformat read it.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    package func fill(sharing data: PacketData) throws(InletError) {
        let (memory, owner) = unsafe data.storage
        if let storage = owner as? EncodedPacketStorage { return try storage.share(with: self) }
        guard let buffer = unsafe BufferOwnership.buffer(memory, owner: owner) else {
            throw InletError(ffmpeg: -ENOMEM, operation: "av_buffer_create")
        }
        unsafe pointer.pointee.buf = buffer
        unsafe pointer.pointee.data = buffer.pointee.data
        unsafe pointer.pointee.size = Int32(clamping: memory.count)
    }

    /// Calls `body` with the data.
    package func withBytes<Value>(_ body: (RawSpan) -> Value) -> Value {
        unsafe body(UnsafeRawBufferPointer(start: pointer.pointee.data, count: max(0, byteCount)).bytes)
    }

    /// Returns whether the other packet has exactly the same time and bytes.
    package func isSame(as other: FFmpegPacket) -> Bool {
        guard byteCount > 0, byteCount == other.byteCount, pts == other.pts,
            let own = unsafe pointer.pointee.data, let others = unsafe other.pointer.pointee.data
        else { return false }
        return unsafe memcmp(own, others, byteCount) == 0
    }

    /// Turns this into a packet without data, with the time, stream and side data of another.
    ///
    /// - Parameter capacity: how many bytes it is likely to get.
    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    package func begin(like other: FFmpegPacket, capacity: Int) throws(InletError) {
        unref()
        try check(unsafe av_new_packet(pointer, Int32(clamping: capacity)), "av_new_packet")
        unsafe av_shrink_packet(pointer, 0)
        try check(unsafe av_packet_copy_props(pointer, other.pointer), "av_packet_copy_props")
    }

    /// Appends the data of another packet.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    package func append(_ other: FFmpegPacket) throws(InletError) {
        let count = byteCount
        try check(unsafe av_grow_packet(pointer, other.pointer.pointee.size), "av_grow_packet")
        guard let own = unsafe pointer.pointee.data, let others = unsafe other.pointer.pointee.data else { return }
        unsafe (own + count).update(from: others, count: other.byteCount)
    }

    private func check(_ code: Int32, _ operation: String) throws(InletError) {
        if code < 0 { throw InletError(ffmpeg: code, operation: operation) }
    }

    package var streamIndex: Int { unsafe Int(pointer.pointee.stream_index) }
    package var byteCount: Int { unsafe Int(pointer.pointee.size) }
    /// The presentation time in ticks of the stream's time base; nil if the container states none.
    package var pts: Int64? {
        get { unsafe Ticks.value(pointer.pointee.pts) }
        set { unsafe pointer.pointee.pts = newValue ?? inlet_av_nopts_value }
    }
    package var dts: Int64? {
        get { unsafe Ticks.value(pointer.pointee.dts) }
        set { unsafe pointer.pointee.dts = newValue ?? inlet_av_nopts_value }
    }
    /// The duration in ticks of the stream's time base; 0 if unknown.
    package var duration: Int64 {
        get { unsafe pointer.pointee.duration }
        set { unsafe pointer.pointee.duration = newValue }
    }
    /// Whether the demuxer found the data to be incomplete.
    package var isCorrupt: Bool { unsafe pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }
    /// Whether the container marks the picture as decoded only for others, as before the beginning of an MP4 edit
    /// list.
    package var isDiscarded: Bool { unsafe pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
    package func markCorrupt() { unsafe pointer.pointee.flags |= AV_PKT_FLAG_CORRUPT }
    /// The sender's time of day for the packet, in nanoseconds since 1970, if the container states it (RTCP sender
    /// reports).
    package var wallClock: Int64? {
        var size = 0
        guard let data = unsafe av_packet_get_side_data(pointer, AV_PKT_DATA_PRFT, &size),
            size >= MemoryLayout<AVProducerReferenceTime>.size
        else { return nil }
        let microseconds = unsafe UnsafeRawPointer(data).loadUnaligned(as: AVProducerReferenceTime.self).wallclock
        return microseconds > 0 ? microseconds.multipliedReportingOverflow(by: 1000).partialValue : nil
    }
    /// Whether there is ``newExtraData``.
    package var hasNewExtraData: Bool {
        var size = 0
        return unsafe av_packet_get_side_data(pointer, AV_PKT_DATA_NEW_EXTRADATA, &size) != nil && size > 0
    }
    /// The parameters that decoders need from this packet on, as the container states them after a change; nil if it
    /// states none.
    package var newExtraData: [UInt8]? {
        get {
            var size = 0
            guard let data = unsafe av_packet_get_side_data(pointer, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0 else {
                return nil
            }
            return unsafe [UInt8](UnsafeBufferPointer(start: data, count: size))
        }
        // Without memory for it the packet stays without.
        set {
            guard let newValue, !newValue.isEmpty,
                let data = unsafe av_packet_new_side_data(pointer, AV_PKT_DATA_NEW_EXTRADATA, newValue.count)
            else { return }
            for (index, byte) in newValue.enumerated() { unsafe data[index] = byte }
        }
    }
    /// Sets the time of day at which the picture was taken, in nanoseconds since 1970, for muxers that write it.
    ///
    /// Without memory for it the packet stays without.
    package func setWallClock(_ time: Int64) {
        let size = MemoryLayout<AVProducerReferenceTime>.size
        guard let data = unsafe av_packet_new_side_data(pointer, AV_PKT_DATA_PRFT, size) else { return }
        // 24: the time at which the picture was captured (ISO/IEC 14496-12, 8.16.5).
        let reference = AVProducerReferenceTime(wallclock: time / 1000, flags: 24)
        unsafe UnsafeMutableRawPointer(data).storeBytes(of: reference, as: AVProducerReferenceTime.self)
    }
    /// Whether ``setWallClock(_:)`` gave the packet a time of day.
    package var hasWallClock: Bool { unsafe av_packet_get_side_data(pointer, AV_PKT_DATA_PRFT, nil) != nil }
    package var isKey: Bool { unsafe pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    package func markKey() { unsafe pointer.pointee.flags |= AV_PKT_FLAG_KEY }
}

/// Converts libav*'s value for "no time".
enum Ticks {
    static func value(_ ticks: Int64) -> Int64? { ticks == inlet_av_nopts_value ? nil : ticks }
}
