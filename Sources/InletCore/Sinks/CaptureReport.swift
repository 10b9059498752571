/// What a capture has done so far, for people and monitoring. Counts of different stages may be a frame apart while
/// frames flow.
public struct CaptureReport: Sendable {
    /// The source by its URI, without credentials.
    public var source = ""
    /// What the capture does now; nil where that is not known.
    public var state: CapturePhase?
    /// The same with its circumstances, for people.
    public var stateDescription = ""
    /// Frames that the source yielded.
    public var captured: UInt64 = 0
    /// Frames that became I420.
    public var converted: UInt64 = 0
    /// Frames a second as they arrived of late; nil before the second frame.
    public var frameRate: Double?
    /// How long ago the newest frame arrived; nil before the first.
    public var lastFrameAge: Duration?
    /// Losses before any sink, by reason.
    public var sourceDrops: [DropReason: UInt64] = [:]
    /// How often the source was opened.
    public var openings: UInt64 = 0
    /// How often frames stopped coming from an open source.
    public var stalls: UInt64 = 0
    /// How often the source failed, by the error's code.
    public var failures: [InletError.Code: UInt64] = [:]
    /// What the source failed with last, for people.
    public var lastFailure: String?
    /// How long there were no frames in all.
    public var outage = Duration.zero
    /// From the capture of a picture to its arrival, decoded, where the source tells.
    public var captureLatency = StageReport()
    /// Each sink, in the order of attachment.
    public var sinks: [SinkReport] = []

    public init() {}

    /// What one sink got.
    public struct SinkReport: Sendable {
        /// Names the attachment within the capture, as two sinks may have one name.
        public var id: String
        /// What the sink is called.
        public var name: String
        /// Whether it still takes frames.
        public var isAttached = true
        /// Frames that it took.
        public var delivered: UInt64 = 0
        /// Frames that it did not get, by reason.
        public var drops: [DropReason: UInt64] = [:]
        /// From a frame's arrival to the moment that the sink's thread took it up.
        public var queue = StageReport()
        /// Conversion and scaling.
        public var conversion = StageReport()
        /// From a frame's arrival to its handing over.
        public var delivery = StageReport()
        /// What the sink itself took for a frame.
        public var consume = StageReport()

        public init(id: String, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// How long a stage took, over all frames.
    public struct StageReport: Sendable, Hashable {
        /// How many durations were counted.
        public var count: UInt64 = 0
        /// Their sum: the differences of two reports give the mean in between.
        public var total = Duration.zero
        /// The median; nil where none was counted.
        public var median: Duration?
        /// What 99 of 100 do not exceed.
        public var percentile99: Duration?
        /// The longest.
        public var maximum = Duration.zero

        public init() {}
    }
}
