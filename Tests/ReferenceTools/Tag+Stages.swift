public import Testing

// What tests need besides this package and ffmpeg. A suite with one of these tags runs in the stage of `Scripts/test`
// that has it, and every other in the first stage. A suite has one of them at most; nested ones have that of theirs.
extension Tag {
    /// Encodes, which keeps all cores busy.
    @Tag public static var encoder: Tag
    /// Looks at the memory and the pace of its own process, so that its tests run one after another.
    @Tag public static var process: Tag
    /// Needs another program that serves, plays or receives: gst-rtsp-server, nginx, VLC, SRT's tools.
    @Tag public static var server: Tag
    /// Proves the servers of the tests, each with a client that is not ours.
    @Tag public static var peer: Tag
    /// Needs Chromium, aiortc, or a screen that others draw on, and asks how fast pictures come.
    @Tag public static var browser: Tag
    /// Needs a kernel with virtual cameras in a virtual machine.
    @Tag public static var virtualMachine: Tag
}
