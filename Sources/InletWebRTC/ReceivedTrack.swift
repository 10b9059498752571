#if WebRTC
    import InletCore

    /// Where the video that a peer sends goes: its RTP packets, in order and without duplicates, and its RTCP.
    ///
    /// GStreamer's callbacks hold it.
    @safe package final class ReceivedTrack: Sendable {
        /// The format that is accepted, as GStreamer writes caps.
        let caps: String
        private let take: @Sendable (RawSpan) -> Void

        /// - Parameters:
        ///   - caps: the format that is accepted, as GStreamer writes caps.
        ///   - take: called with each packet, on threads of GStreamer's, which must not be blocked; at times on two at
        ///     once.
        package init(caps: String, take: @escaping @Sendable (RawSpan) -> Void) {
            self.caps = caps
            self.take = take
        }

        static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { owner in
            guard let owner = unsafe owner else { return }
            unsafe Unmanaged<ReceivedTrack>.fromOpaque(owner).release()
        }

        static let received: @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, Int) -> Void = {
            owner, bytes, count in
            guard let owner = unsafe owner, let bytes = unsafe bytes else { return }
            let track = unsafe Unmanaged<ReceivedTrack>.fromOpaque(owner).takeUnretainedValue()
            let packet = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
            unsafe track.take(packet.bytes)
        }
    }
#endif
