import InletCore

/// The properties of an input that are known before its first packet is returned.
struct InputFacts {
    var kind: InputKind
    /// The pacing of frames.
    var pacing: SourcePacing
    /// See ``SourceFormat/isBroadcast``.
    var isBroadcast: Bool?
    /// Whether the stream may reveal only as its packets arrive that it has video, as with RTMP, HTTP and a camera
    /// program that writes to a FIFO.
    var showsVideoLate = false
    /// Whether libavformat has parsed packets and continues to do so.
    var isParsed = false
    /// Whether the demuxer counts frames instead of reading their times.
    var makesTimesUp = false
    /// The frame rate, if it is known from elsewhere than the stream.
    var frameRate: Rational?
    /// Whether timestamps are from a clock that runs independently of readers and wraps at its largest value.
    var timestampsWrap = false
}
