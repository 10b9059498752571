#if WebRTC
    import CGStreamer
    import InletCore

    // Data received from the peer.
    // Unsafe: calls functions in C with the peer's GStreamer context.
    extension GStreamerPeer {
        /// Requests a key frame of the peer, by PLI. Does nothing before its first packet.
        package func requestKeyFrame() {
            if let receiver = unsafe viewer.pointee.receiver { unsafe inlet_gst_receiver_ask_key(receiver) }
        }

        /// Receives the packets that the peer sends under these SSRCs, at most eight, for a track without separate
        /// caps; without SSRCs, under the first eight that come from now on. Those of the previous call are replaced,
        /// until 64 have been received.
        package func admit(_ sources: [UInt32]) {
            guard let receiver = unsafe viewer.pointee.receiver else { return }
            unsafe inlet_gst_receiver_admit(receiver, sources, UInt32(clamping: sources.count))
        }

        /// Sets how long the peer's later packets wait for a missing one.
        package func hold(_ time: Duration) {
            unsafe inlet_gst_viewer_hold(viewer, UInt32(clamping: time.wholeNanoseconds / 1_000_000))
        }
    }
#endif
