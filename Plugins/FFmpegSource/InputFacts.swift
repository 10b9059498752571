import InletCore

/// What is known about an input before its first packet is returned.
struct InputFacts {
    var kind: InputKind
    /// How frames are paced.
    var pacing: SourcePacing
    /// See ``SourceFormat/isBroadcast``.
    var isBroadcast: Bool?
    /// Whether the stream may show that it has video only as its packets arrive, as RTMP, HTTP and a camera's program
    /// that writes to a FIFO do.
    var showsVideoLate = false
    /// Whether libavformat has parsed packets, and continues to.
    var isParsed = false
    /// Whether the demuxer counts frames instead of reading their times.
    var makesTimesUp = false
    /// The frame rate, if that is known from something other than the stream.
    var frameRate: Rational?
    /// Whether timestamps are from a clock that runs independently of readers, and wraps at its largest value.
    var timestampsWrap = false
}
