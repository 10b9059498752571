public import InletCore

/// A test picture, ready to be made: `pattern:smpte?size=1280x720&fps=30`.
public struct PatternConfiguration: FrameSourceConfiguration, Hashable {
    /// What to draw. The default is ``TestPattern/smpte``.
    public var pattern: TestPattern
    /// From 16x16 to 8192x8192, odd numbers too. The default is 1280x720.
    public var size: ImageSize
    /// Frames a second, from 1/1000 to 1000. The default is 30.
    public var frameRate: Rational
    /// How many frames there are before the end, those that were lost or passed over included. The default, 0, is
    /// without end.
    public var frames: UInt64
    /// When frames come. The default is ``Pace-swift.enum/realtime``.
    public var pace: Pace
    /// What ``TestPattern/noise`` and ``TestPattern/ball`` depend on. The default is 0.
    public var seed: UInt64
    /// The colour of ``TestPattern/solid``. The default is mid-grey, `126,128,128`.
    public var color: PatternColor
    /// How many pictures of a moving pattern may be in use at once, from 2 to 1024. The default is 16.
    public var buffers: Int

    /// When frames come.
    public enum Pace: String, Sendable, Hashable, ChoiceOptionValue {
        /// Frame n comes n frame intervals after the first, like a camera's; one that is not taken in time is lost.
        case realtime
        /// Frames come as fast as they are taken, and none is lost.
        case unpaced = "none"
    }

    /// A configuration; ``validate()`` and ``FrameSource/open(_:)`` say whether it can work.
    public init(
        _ pattern: TestPattern = .smpte, size: ImageSize = ImageSize(width: 1280, height: 720),
        frameRate: Rational = Rational(30), frames: UInt64 = 0, pace: Pace = .realtime, seed: UInt64 = 0,
        color: PatternColor = .yuv(y: 126, u: 128, v: 128), buffers: Int = 16
    ) {
        self.pattern = pattern
        self.size = size
        self.frameRate = frameRate
        self.frames = frames
        self.pace = pace
        self.seed = seed
        self.color = color
        self.buffers = buffers
    }

    static let sizes = ImageSize(width: 16, height: 16)...ImageSize(width: 8192, height: 8192)
    static let frameRates = Rational(1, 1000)...Rational(1000)
    static let bufferCounts = 2...1024

    /// Checks that the parts are in range and fit together.
    ///
    /// - Throws: ``InletError/Code/invalidConfiguration``.
    public func validate() throws(InletError) {
        func fail(_ message: String) -> InletError {
            InletError(.invalidConfiguration, message, context: .init(subject: redactedURI))
        }
        guard Self.sizes.contains(size) else {
            throw fail("A pattern is from 16x16 to 8192x8192 pixels, not \(size).")
        }
        guard Self.frameRates.contains(frameRate) else {
            throw fail("A pattern has from 1/1000 to 1000 frames a second, not \(frameRate).")
        }
        guard Self.bufferCounts.contains(buffers) else {
            throw fail("A pattern takes from 2 to 1024 buffers, not \(buffers).")
        }
        if pattern == .timecode, !(TimecodeLayout.leastSize <= size) {
            throw fail(
                "The blocks of timecode do not fit into \(size) pixels. Its least size is \(TimecodeLayout.leastSize).")
        }
    }

    /// The URI that gives this configuration.
    public var redactedURI: String {
        let defaults = PatternConfiguration()
        var uri = "pattern:\(pattern.rawValue)?size=\(size)&fps=\(frameRate)"
        if frames != defaults.frames { uri += "&frames=\(frames)" }
        if pace != defaults.pace { uri += "&pace=\(pace.rawValue)" }
        if seed != defaults.seed { uri += "&seed=\(seed)" }
        if color != defaults.color { uri += "&color=\(color.optionText)" }
        if buffers != defaults.buffers { uri += "&buffers=\(buffers)" }
        return uri
    }

    /// A source that draws this pattern.
    public func makeSource() -> any FrameSource { PatternSource(self) }

    /// BT.709 from 720 lines up, BT.601 below, as broadcasting has it; always limited range.
    var colorSpace: ColorSpace { size.height >= 720 ? .bt709 : .bt601 }

    /// One tick a frame.
    var timeBase: Rational { frameRate.reciprocal ?? Rational(1) }
}
