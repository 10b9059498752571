public import InletCore
import Synchronization

/// A sink that keeps a record of its calls, and misbehaves as configured.
///
/// The record is a separate ``Log``, so that a test can read it while the sink belongs to a delivery queue.
public final class RecordingSink: FrameSink {
    /// The record of the sink's calls.
    public let log: Log
    /// The requirements of the sink.
    public let wants: SinkWants
    private let behavior: Behavior
    private var count = 0

    /// The sink's behaviour besides recording.
    public struct Behavior: Sendable {
        /// Thrown by `start`. The default is nil.
        public var startError: InletError?
        /// Thrown when the frame with this index arrives, 0 being the first. The default is nil.
        public var frameError: (index: Int, error: InletError)?
        /// The number of frames after which the next one throws ``SinkStopped``. The default is nil, for all.
        public var frameLimit: Int?
        /// Thrown by `finish`. The default is nil.
        public var finishError: InletError?
        /// The gate at which every frame waits before it is recorded. The default is nil.
        public var gate: Gate?
        /// The time that each frame takes, and its clock. The default is nil, for no delay.
        public var delay: (duration: Duration, clock: any CaptureClock)?
        /// Whether it states that it returns at once. The default is false.
        public var consumesAtOnce = false
        /// The number of latest frames that are kept with their pixels. The default is 0.
        public var keptFrames = 0

        public init() {}
    }

    public init(_ behavior: Behavior = Behavior(), wants: SinkWants = SinkWants(), log: Log = Log()) {
        self.behavior = behavior
        self.wants = wants
        self.log = log
    }

    /// The value of ``Behavior/consumesAtOnce``.
    public var consumesAtOnce: Bool { behavior.consumesAtOnce }

    /// Records the format.
    public func start(_ format: VideoFormat, _ context: SinkContext) throws {
        log.record(.start(format))
        if let error = behavior.startError { throw error }
    }

    /// Records the frame, after the configured delay or error.
    public func consume(_ frame: VideoFrame) throws {
        behavior.gate?.pass()
        if let (duration, clock) = behavior.delay {
            let end = clock.now + duration
            while clock.now < end { _ = clock.wait(until: end, wakeUpDescriptor: -1) }
        }
        if let limit = behavior.frameLimit, count >= limit { throw SinkStopped() }
        if let (index, error) = behavior.frameError, index == count { throw error }
        count += 1
        log.record(.frame(RecordedFrame(frame)), keeping: frame, limit: behavior.keptFrames)
    }

    /// Records the end.
    public func finish() throws {
        log.record(.finish)
        if let error = behavior.finishError { throw error }
    }
}

/// A ``RecordingSink``'s record of a frame: all but its pixels, so that the record holds no picture's memory.
public struct RecordedFrame: Sendable {
    /// The size of the picture.
    public let size: ImageSize
    /// The place on the capture timeline.
    public let timestamp: MonotonicTime
    /// The source's own time.
    public let pts: MediaTime?
    /// How long the picture is shown.
    public let duration: MediaTime?
    /// The source's frame number.
    public let sequence: UInt64
    /// How to interpret the samples as colour.
    public let colorSpace: ColorSpace
    /// The clockwise rotation that shows the picture upright.
    public let rotation: Rotation
    /// Facts about the frame.
    public let flags: FrameFlags
    /// The width of a pixel over its height.
    public let sampleAspectRatio: Rational?
    /// The time of day, in nanoseconds since 1970.
    public let wallClock: Int64?
    /// When the frame passed each stage.
    public let stages: StageTimes
    /// The luma of the top left pixel.
    public let firstLuma: UInt8

    init(_ frame: VideoFrame) {
        size = frame.size
        timestamp = frame.timestamp
        pts = frame.pts
        duration = frame.duration
        sequence = frame.sequence
        colorSpace = frame.colorSpace
        rotation = frame.rotation
        flags = frame.flags
        sampleAspectRatio = frame.sampleAspectRatio
        wallClock = frame.wallClock
        stages = frame.stages
        firstLuma = frame.buffer.row(0, of: .y)[0]
    }
}
