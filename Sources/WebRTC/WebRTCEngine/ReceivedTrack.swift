import InletCore

// Unsafe: is the context of GStreamer's callbacks.
/// The receiver of a peer's video: its RTP packets, in order and without duplicates, and its RTCP.
///
/// GStreamer's callbacks hold it.
@safe package final class ReceivedTrack: Sendable {
    /// The accepted format, in the form of GStreamer's caps; nil for those of the media section that sends.
    let caps: String?
    private let take: @Sendable (RawSpan) -> Void
    private let leaveOut: @Sendable () -> Void

    /// - Parameters:
    ///   - caps: the accepted format, in the form of GStreamer's caps; nil for those of the media section that
    ///     sends, for which only the SSRCs of ``GStreamerPeer/admit(_:)`` are received.
    ///   - take: called with each packet, on threads of GStreamer, which must not be blocked; at times on two at
    ///     once.
    ///   - leaveOut: called once if packets are dropped because there are more SSRCs than an engine accepts; only
    ///     for a track without caps. On any thread, which must not be blocked.
    package init(
        caps: String?, take: @escaping @Sendable (RawSpan) -> Void,
        leaveOut: @escaping @Sendable () -> Void = {}
    ) {
        self.caps = caps
        self.take = take
        self.leaveOut = leaveOut
    }

    /// Returns the payload type of a packet of RTP; nil for invalid packets, and for RTCP, whose types are distinct
    /// from those of RTP (RFC 5761, 4).
    static func payloadType(of packet: RawSpan) -> UInt8? {
        guard packet.byteCount >= 2 else { return nil }
        let second = unsafe packet.unsafeLoad(fromByteOffset: 1, as: UInt8.self)
        return (192...223).contains(second) ? nil : second & 0x7f
    }

    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { owner in
        guard let owner = unsafe owner else { return }
        unsafe Unmanaged<ReceivedTrack>.fromOpaque(owner).release()
    }

    static let crowded: @convention(c) (UnsafeMutableRawPointer?) -> Void = { owner in
        guard let owner = unsafe owner else { return }
        unsafe Unmanaged<ReceivedTrack>.fromOpaque(owner).takeUnretainedValue().leaveOut()
    }

    static let received: @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, Int) -> Void = {
        owner, bytes, count in
        guard let owner = unsafe owner, let bytes = unsafe bytes else { return }
        let track = unsafe Unmanaged<ReceivedTrack>.fromOpaque(owner).takeUnretainedValue()
        let packet = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        unsafe track.take(packet.bytes)
    }
}
