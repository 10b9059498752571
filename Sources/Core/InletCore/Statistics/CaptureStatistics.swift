/// Statistics of a capture so far. A snapshot: counts of different stages may be a frame apart while frames flow.
public struct CaptureStatistics: Sendable {
    /// The source's URI, without credentials.
    public var source = ""
    /// The current state of the capture; nil if it is unknown.
    public var phase: CapturePhase?
    /// The state with its circumstances, for people.
    public var stateDescription = ""
    /// The time at which the snapshot was taken; nil if nothing is captured.
    public var time: MonotonicTime?
    /// Frames that the source yielded.
    public var captured: UInt64 = 0
    /// Frames that became I420, whether wrapped or converted. A frame that no sink takes is never converted.
    public var converted: UInt64 = 0
    /// Frames without a usable PTS, so that their timestamps are the times of their arrival, jitter included.
    public var stampedByArrival: UInt64 = 0
    /// Losses before any sink: in the source, its driver or decoder, over all connections of the run. Gaps in the
    /// source's own count are among them, as ``DropReason/lostBySource``.
    public var sourceDrops: [DropReason: UInt64] = [:]
    /// The reception by RTP, over all connections of the run; nil if the source receives nothing in this way.
    public var reception: ReceptionFigures?
    /// The sinks that are attached, and the 64 that ended last, in the order of attachment.
    public var sinks: [Sink] = []
    /// The sums of the sinks that ended before those in ``sinks``, one of each name, with the last one's identifier; of
    /// at most 64 names.
    public var earlierSinks: [Sink] = []
    /// The time from the capture of a picture to its arrival here, decoded; only if the source reports when it was
    /// captured, or when it was due.
    public var captureLatency = LatencyDistribution()
    /// The time at which the first frame arrived.
    public var firstArrival: MonotonicTime?
    /// The time at which the newest frame arrived.
    public var lastArrival: MonotonicTime?
    /// Frames a second as they arrived over about the last two seconds, falling towards zero while none arrives; nil
    /// before the second frame. ``frameRate`` is the rate over the whole run.
    public var recentFrameRate: Double?
    /// The timestamp of the first frame.
    public var firstTimestamp: MonotonicTime?
    /// The timestamp of the newest frame.
    public var lastTimestamp: MonotonicTime?

    /// Figures about keeping the source running.
    public var supervision = SupervisionFigures()

    /// Makes empty statistics.
    public init() {}

    /// Frames delivered, over all sinks.
    public var delivered: UInt64 { allSinks.reduce(0) { $0 &+ $1.delivered } }

    /// All drops by reason, in the source and in the sinks.
    public var drops: [DropReason: UInt64] {
        allSinks.reduce(into: sourceDrops) { total, sink in total.merge(sink.drops, uniquingKeysWith: &+) }
    }

    /// The figures of every sink that is or was attached: the sums of the earlier ones, then the others.
    package var allSinks: [Sink] { earlierSinks + sinks }

    /// Statistics of one sink.
    public struct Sink: Sendable {
        /// Identifies the attachment.
        public var id: SinkID
        /// The sink's name, given when it was attached.
        public var name: String
        /// Frames that the sink took without throwing.
        public var delivered: UInt64 = 0
        /// Frames that it did not get, by reason.
        public var drops: [DropReason: UInt64] = [:]
        /// The time from the frame's arrival until the sink's queue took it.
        public var queueLatency = LatencyDistribution()
        /// The time for conversion and scaling.
        public var conversionTime = LatencyDistribution()
        /// The time from the frame's arrival until it was handed to the sink.
        public var deliveryLatency = LatencyDistribution()
        /// The time that the sink itself took for a frame.
        public var consumeTime = LatencyDistribution()
        /// The sessions over which it sends; nil for a sink without sessions, such as a file.
        public var sessions: SinkSessions?
        /// Whether the sink still takes frames.
        public var isAttached = true

        /// Makes the statistics of a sink that has not received anything yet.
        public init(id: SinkID, name: String) {
            self.id = id
            self.name = name
        }

        /// Adds what another sink of the same name did.
        package mutating func add(_ other: Sink) {
            delivered &+= other.delivered
            drops.merge(other.drops, uniquingKeysWith: &+)
            queueLatency.merge(other.queueLatency)
            conversionTime.merge(other.conversionTime)
            deliveryLatency.merge(other.deliveryLatency)
            consumeTime.merge(other.consumeTime)
            guard let theirs = other.sessions else { return }
            var sum = sessions ?? SinkSessions()
            sum.open += theirs.open
            sum.pending += theirs.pending
            sum.opened &+= theirs.opened
            sessions = sum
        }
    }
}

extension CaptureStatistics {
    /// The time from the arrival of the newest frame to the snapshot; nil before the first.
    public var lastFrameAge: Duration? {
        guard let time, let lastArrival else { return nil }
        // A frame may arrive while the snapshot is taken.
        return max(.zero, time - lastArrival)
    }

    /// Frames a second as they arrived, over the whole run; nil before the second frame.
    public var frameRate: Double? {
        guard captured > 1, let firstArrival, let lastArrival, lastArrival > firstArrival else { return nil }
        return Double(captured - 1) / (Double((lastArrival - firstArrival).wholeNanoseconds) / 1e9)
    }
}
