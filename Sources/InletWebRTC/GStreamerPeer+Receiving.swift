#if WebRTC
    import CGStreamer
    import InletCore

    // What comes from the peer.
    // Unsafe: calls functions in C with the peer's GStreamer context.
    extension GStreamerPeer {
        /// Requests a key frame of the peer, by PLI. Does nothing before its first packet.
        package func requestKeyFrame() {
            if let receiver = unsafe viewer.pointee.receiver { unsafe inlet_gst_receiver_ask_key(receiver) }
        }

        /// Has the packets received that the peer sends under these SSRCs, at most eight, where a track has no caps of
        /// its own; if there are none, under the first eight that come from now on. Those of the call before give way,
        /// until 64 have been received.
        package func admit(_ sources: [UInt32]) {
            guard let receiver = unsafe viewer.pointee.receiver else { return }
            unsafe inlet_gst_receiver_admit(receiver, sources, UInt32(clamping: sources.count))
        }

        /// Sets how long the peer's later packets wait for one that is missing.
        package func hold(_ time: Duration) {
            unsafe inlet_gst_viewer_hold(viewer, UInt32(clamping: time.wholeNanoseconds / 1_000_000))
        }
    }
#endif
