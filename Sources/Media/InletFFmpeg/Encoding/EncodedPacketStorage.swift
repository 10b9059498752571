import CFFmpeg
package import InletCore

// Unsafe: owns an `AVPacket` that nothing changes.
/// Owns the `AVPacket` of an ``EncodedPacket``.
///
/// Safe from any thread: nothing writes to the packet after `init`, and its reference-counted data may be freed on any
/// thread.
@safe package final class EncodedPacketStorage: Sendable {
    // Filled before `init` only; freed once, in `deinit`.
    nonisolated(unsafe) private let packet: UnsafeMutablePointer<AVPacket>

    /// Takes the data of a packet, which is empty afterwards and can be refilled.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    package init(moving other: FFmpegPacket) throws(InletError) {
        guard let packet = unsafe av_packet_alloc() else {
            throw InletError(ffmpeg: -ENOMEM, operation: "av_packet_alloc")
        }
        // A demuxer may lend its data until its next packet.
        let code = unsafe av_packet_make_refcounted(other.pointer)
        guard code >= 0 else {
            var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
            unsafe av_packet_free(&packet)
            throw InletError(ffmpeg: code, operation: "av_packet_make_refcounted")
        }
        unsafe av_packet_move_ref(packet, other.pointer)
        unsafe self.packet = packet
    }

    /// Shares the data of a packet that remains in use.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    package init(sharing other: FFmpegPacket) throws(InletError) {
        guard let packet = unsafe av_packet_alloc() else {
            throw InletError(ffmpeg: -ENOMEM, operation: "av_packet_alloc")
        }
        // Copies only what a demuxer lends until its next packet.
        let code = unsafe av_packet_ref(packet, other.pointer)
        guard code >= 0 else {
            var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
            unsafe av_packet_free(&packet)
            throw InletError(ffmpeg: code, operation: "av_packet_ref")
        }
        unsafe self.packet = packet
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
        unsafe av_packet_free(&packet)
    }

    /// Makes another, empty packet share the data and the side data.
    ///
    /// - Throws: ``InletError/Code/resourceExhausted`` if there is no memory.
    package func share(with other: FFmpegPacket) throws(InletError) {
        let code = unsafe av_packet_ref(other.pointer, packet)
        if code < 0 { throw InletError(ffmpeg: code, operation: "av_packet_ref") }
    }

    /// The bytes, which keep this object alive.
    package var data: PacketData {
        unsafe PacketData(
            UnsafeRawBufferPointer(start: packet.pointee.data, count: max(0, Int(packet.pointee.size))), owner: self)
    }
}
