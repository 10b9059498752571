#if WebRTC
    import CGStreamer
    import InletCore

    // What comes from the peer.
    extension GStreamerPeer {
        /// Requests a key frame of the peer, by PLI. Does nothing before its first packet.
        package func requestKeyFrame() {
            if let receiver = unsafe viewer.pointee.receiver { unsafe inlet_gst_receiver_ask_key(receiver) }
        }

        /// Has the peer's packets received that the descriptions name that were set last, where a track has no caps of
        /// its own.
        ///
        /// - Parameters:
        ///   - media: the payload types of video.
        ///   - others: those of retransmissions.
        ///   - sources: the SSRCs; empty if descriptions name none.
        package func admit(_ media: [Int], and others: [Int], from sources: [UInt32]) {
            guard let receiver = unsafe viewer.pointee.receiver else { return }
            let payloads = (media + others).map { UInt8(clamping: $0) }
            unsafe inlet_gst_receiver_admit(
                receiver, payloads, UInt32(clamping: payloads.count), UInt32(clamping: media.count), sources,
                UInt32(clamping: sources.count))
        }

        /// Has only packets received whose format the engine has learned from earlier ones, while it is given another.
        package func narrow() {
            if let receiver = unsafe viewer.pointee.receiver { unsafe inlet_gst_receiver_narrow(receiver) }
        }

        /// Sets how long the peer's later packets wait for one that is missing.
        package func hold(_ time: Duration) {
            unsafe inlet_gst_viewer_hold(viewer, UInt32(clamping: time.wholeNanoseconds / 1_000_000))
        }
    }
#endif
