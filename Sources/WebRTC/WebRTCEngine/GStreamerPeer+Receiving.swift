import CGStreamerPeer
import InletCore

// Data received from the peer.
// Unsafe: calls functions in C with the peer's GStreamer context.
extension GStreamerPeer {
    /// Requests a key frame of the peer, by PLI. Does nothing before its first packet.
    package func requestKeyFrame() {
        unsafe inlet_gst_viewer_ask_key(viewer)
    }

    /// Receives the packets that the peer sends under these SSRCs, at most eight, for a track without separate
    /// caps; without SSRCs, under the first eight that come from now on. Those of the previous call are replaced,
    /// until 64 have been received.
    package func admit(_ sources: [UInt32]) {
        unsafe inlet_gst_viewer_admit(viewer, sources, UInt32(clamping: sources.count))
    }

    /// Sets how long the peer's later packets wait for a missing one.
    package func hold(_ time: Duration) {
        unsafe inlet_gst_viewer_hold(viewer, UInt32(clamping: time.wholeNanoseconds / 1_000_000))
    }
}
