import InletCore

/// The known properties of an input before its first packet is returned.
struct InputFacts {
    var kind: InputKind
    /// The pacing of frames.
    var pacing: SourcePacing
    /// See ``SourceFormat/isBroadcast``.
    var isBroadcast: Bool?
    /// Whether the stream may show that it has video only as its packets arrive, as with RTMP, HTTP and a camera
    /// program that writes to a FIFO.
    var showsVideoLate = false
    /// Whether libavformat has parsed packets, and continues to.
    var isParsed = false
    /// Whether the demuxer counts frames instead of reading their times.
    var makesTimesUp = false
    /// The frame rate, if it is known from a source other than the stream.
    var frameRate: Rational?
    /// Whether timestamps are from a clock that runs independently of readers, and wraps at its largest value.
    var timestampsWrap = false
}
