import InletCore

/// What is known of an input before its first packet is given out.
struct InputFacts {
    var kind: InputKind
    /// How frames come.
    var pacing: SourcePacing
    /// See ``SourceFormat/isBroadcast``.
    var isBroadcast: Bool?
    /// Whether the stream may show that it has video only as its packets come: RTMP, HTTP and what a camera's program
    /// writes to a FIFO tell as they go.
    var showsVideoLate = false
    /// Whether libavformat has parsed packets, and goes on so.
    var isParsed = false
    /// Whether the demuxer counts frames instead of telling their times.
    var makesTimesUp = false
    /// Whether timestamps are a clock's that goes on whoever listens, and begins anew at its largest value.
    var timestampsWrap = false
}
