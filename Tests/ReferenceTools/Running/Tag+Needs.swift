public import Testing

// The needs of a suite besides this package and ffmpeg. A suite has a tag for each of its needs, and nested suites
// inherit the tags of their suite. `Scripts/gate/stages.py` has a stage for each tag; a suite with several tags runs in
// the first of them.
extension Tag {
    /// Needs a kernel with virtual cameras in a virtual machine.
    @Tag public static var virtualMachine: Tag
    /// Needs Chromium and its driver.
    @Tag public static var chromium: Tag
    /// Needs an X server or a Wayland session.
    @Tag public static var display: Tag
    /// Needs a WebRTC peer or server: aiortc, GStreamer's webrtcbin, Janus, coturn.
    @Tag public static var rtcPeer: Tag
    /// Starts `inlet serve`.
    @Tag public static var daemon: Tag
    /// Needs another program that serves, plays or receives: gst-rtsp-server, nginx, VLC, the tools of SRT.
    @Tag public static var server: Tag
    /// Checks the memory, descriptors or pace of this process, so that its tests run one after another.
    @Tag public static var process: Tag
    /// Encodes video, which keeps all processors busy.
    @Tag public static var encoder: Tag
    /// Needs packages from PyPI, such as botocore and jsonschema.
    @Tag public static var python: Tag
}
